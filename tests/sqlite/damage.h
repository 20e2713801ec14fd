#pragma once

#include <optional>
#include <string>

#include "tests/conformance/store_under_test.h"

namespace perdure::conformance {

/// The statement that damages the row; nullopt when the table has no column for such a damage.
std::optional<std::string> damage(const RowRef& row);

}  // namespace perdure::conformance
