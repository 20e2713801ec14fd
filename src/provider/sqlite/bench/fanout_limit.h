#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "provider/sqlite/bench/row_writer.h"
#include "provider/sqlite/checkpointer.h"
#include "provider/sqlite/options.h"

namespace perdure::sqlite {

/// How many orchestrations SQLite could store from their start to their end if nobody had to check,
/// decide, run or answer anything: the row changes of a run and nothing else, from one thread, with
/// the provider's own schema, settings and statements, 128 runs in a transaction. What a run
/// changes is fixed, so that an engine that writes more does not look better against it: instance
/// (with its line) and execution inserted; `started`, for each activity `scheduled` and
/// `completed`, and `completed` inserted; for each activity one work row inserted, claimed and
/// deleted; for the start and each activity one message inserted, marked and deleted; for each turn
/// one lock taken and released.
///
/// Threading: one thread. The files stay when it goes; they belong to the caller.
class RunLimit {
 public:
  static constexpr std::int64_t kRunsPerCommit = 128;

  struct Setup {
    std::string path;  ///< must not exist
    Durability durability = Durability::kFull;
    int activities = 5;  ///< of a run, as many in each turn but the last
    int turns = 2;       ///< at least 2
  };

  static Result<std::unique_ptr<RunLimit>> make(Setup setup);

  /// Stores runs until `window` is spent and answers runs per second.
  Result<double> run(std::chrono::nanoseconds window);

  /// Corrupt unless exactly the rows are there that the runs so far leave.
  Status check_rows();

 private:
  explicit RunLimit(Setup setup);

  void commit();
  void write_run();
  /// A turn begins: so many messages are there.
  void lock(std::int64_t key, std::int64_t messages);
  /// A turn ends, and its messages go.
  void unlock(std::int64_t key, std::int64_t messages);
  void schedule(std::int64_t key);
  void finish_work(std::int64_t key, std::int64_t work);
  void add_event(std::int64_t key, EventKind kind);

  const Setup setup_;
  Checkpointer checkpointer_;
  const std::unique_ptr<Connection> db_;
  RowWriter rows_;
  TimePoint now_{};
  std::int64_t runs_ = 0;
  std::int64_t token_ = 0;
  NewWork work_row_;
  std::int64_t last_event_ = 0;     // of the run at work
  std::vector<std::int64_t> work_;  // of the turn at work
};

}  // namespace perdure::sqlite
