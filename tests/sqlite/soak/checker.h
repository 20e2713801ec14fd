#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/sqlite/soak/ledger.h"

namespace perdure::sqlite::soak {

/// What a look at the store has found.
struct Findings {
  std::vector<std::string> violations;
  std::int64_t acknowledged = 0;
  std::int64_t unanswered_landed = 0;  ///< begun, not answered, and there
  std::int64_t unanswered_absent = 0;  ///< begun, not answered, and not there
};

/// Holds a store against what its callers know of it, while others go on using both: what was
/// acknowledged is there once, what was refused is not there, and everything else is there wholly
/// or not at all. And no call, message or event is lost or doubled.
Findings check_store(const std::string& store, const Ledger& ledger);

}  // namespace perdure::sqlite::soak
