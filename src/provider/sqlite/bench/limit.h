#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "provider/sqlite/bench/row_writer.h"
#include "provider/sqlite/checkpointer.h"
#include "provider/sqlite/options.h"
#include "provider/turn_commit.h"

namespace perdure::sqlite {

/// How many turns SQLite could commit if nobody had to check, decide or answer anything: the row
/// changes of a turn and nothing else, from one thread, with the provider's own schema, settings
/// and statements. What a turn changes is fixed, so that a provider that writes more does not look
/// better against it: 1 message deleted, 3 history rows, 1 work row, 1 execution updated, 1 lock
/// released.
///
/// Threading: one thread. The files stay when it goes; they belong to the caller.
class TurnLimit {
 public:
  struct Setup {
    std::string path;  ///< must not exist
    Durability durability = Durability::kFull;
    std::int64_t instances = 2'048;  ///< that are prepared together
    std::int64_t turns_each = 4;     ///< before they are left for fresh ones
    TurnCommit turn;                 ///< what to write: 3 events and 1 work
  };

  static Result<std::unique_ptr<TurnLimit>> make(Setup setup);

  /// Commits prepared turns, `per_commit` in a transaction, until `window` was spent in that, and
  /// answers turns per second. Preparing is not counted.
  Result<double> run(std::int64_t per_commit, std::chrono::nanoseconds window);

  /// Corrupt unless exactly the rows are there that the turns so far leave.
  Status check_rows();

 private:
  explicit TurnLimit(Setup setup);

  void prepare();
  void commit(std::int64_t turns);
  void write_turn(std::int64_t key);
  /// Of the instances at work.
  std::int64_t key_of(std::int64_t index) const { return started_ - setup_.instances + 1 + index; }

  const Setup setup_;
  Checkpointer checkpointer_;
  const std::unique_ptr<Connection> db_;
  RowWriter rows_;
  TimePoint now_{};
  std::int64_t started_ = 0;    // instances so far; the last `instances` of them are at work
  std::int64_t had_turns_ = 0;  // of each of those
  std::int64_t prepared_ = 0;   // of those, in their order
  std::int64_t written_ = 0;    // of the prepared ones
  std::int64_t turns_ = 0;      // in all
  std::int64_t token_ = 0;      // of the instances that were prepared together
};

}  // namespace perdure::sqlite
