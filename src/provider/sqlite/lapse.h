#pragma once

#include <string>
#include <vector>

#include "provider/rules/work_rule.h"
#include "provider/sqlite/writer.h"

namespace perdure::sqlite {

/// A claimed row whose lease, or whose process, has ended.
struct LapsedRow {
  WorkId id;
  bool unwanted = false;  ///< marked, or without an owner
  int losses = 0;         ///< with this one
  std::string queue;
  LockToken lock;
  bool alone = false;  ///< its process holds nothing else
};

/// Rows of Sql::kLapsedToEnd and Sql::kWorkOfEpoch, as they stand before any of them is written.
std::vector<LapsedRow> read_lapsed(Connection& db, Query rows);

/// Whether the process holds a claim besides `other_than`, or an instance lock.
bool holds_more(Connection& db, Epoch epoch, WorkId other_than = {});

/// Ends a row that must not run again: an unwanted one as canceled, one that was lost alone at the
/// limit as poison; the owner is told in the same commit. Answers what it was; kReady: nothing was
/// written. One whose owner cannot be read is set aside and becomes a problem.
rules::LapseEffect end_lapsed_row(WriteContext& context,
                                  const LapsedRow& row,
                                  int max_losses,
                                  std::vector<Error>& problems);

/// Makes due delayed rows ready, at most `limit`; answers how many.
std::int64_t promote_due(WriteContext& context, std::int64_t limit);

/// Frees lapsed claims that may run again (a loss each), at most `limit`; answers how many. Their
/// tokens stay, so that a claim that nobody took can still be settled or renewed.
std::int64_t free_lapsed(WriteContext& context, int max_losses, std::int64_t limit);

}  // namespace perdure::sqlite
