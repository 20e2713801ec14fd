#pragma once

#include <optional>

#include "provider/orchestration_requests.h"
#include "provider/sqlite/connection.h"

namespace perdure::sqlite {

/// Fills in what a turn must know of its run: all of the item that stands with the instance and one
/// of its executions, the current one unless told otherwise. What an earlier execution is served as
/// is what it was begun as. Throws when a row is damaged or missing.
void describe_item(Connection& db,
                   OrchestrationItem& item,
                   std::optional<ExecutionNo> execution = std::nullopt);

}  // namespace perdure::sqlite
