#pragma once

#include <cstdint>

namespace perdure::sqlite {

/// Counts the statements that SQLite begins to run on connections that are opened while this object
/// lives. Those that look at no table (PRAGMA, the begin and the end of a transaction) are left
/// out, and so is what triggers run. One at a time. Threading: made and destroyed while no store is
/// being opened; such connections must be closed before it goes.
class StatementCount {
 public:
  StatementCount();
  StatementCount(const StatementCount&) = delete;
  StatementCount& operator=(const StatementCount&) = delete;
  ~StatementCount();

  std::int64_t count() const;
};

}  // namespace perdure::sqlite
