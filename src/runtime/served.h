#pragma once

#include <string>
#include <vector>

#include <perdure/detail/handler_table.h>

#include "provider/orchestration_requests.h"
#include "provider/process_requests.h"

namespace perdure::runtime {

/// The names and versions that a dispatcher fetches: those registered, in every form in which a
/// store may have them, and of each name the empty version, for runs that were started without one.
std::vector<ServedOrchestration> served_by(const detail::HandlerTable& handlers);

/// The signals that the code takes, for the registration of its process.
std::vector<DeclaredSignals> declared_by(const detail::HandlerTable& handlers);

/// The code of an item. Before its first turn a run without a version takes the newest; from then
/// on it stays on the version that it has, so the empty one means code registered without.
/// `continues`: its execution goes on where one before continued as new, so it has had its first
/// turn there. Null when that code is not registered.
const detail::OrchestrationHandler* find_main(const detail::HandlerTable& handlers,
                                              const OrchestrationItem& item,
                                              bool continues = false);

/// What people are told when that code is missing.
std::string not_registered(const OrchestrationItem& item);

/// True when the execution has committed a turn.
inline bool had_turn(const OrchestrationItem& item) {
  return item.last_turn.serial != 0;
}

}  // namespace perdure::runtime
