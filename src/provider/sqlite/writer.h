#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "provider/sqlite/change_hub.h"
#include "provider/sqlite/checkpointer.h"
#include "provider/sqlite/commit_mark.h"
#include "provider/sqlite/connection.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/transaction.h"
#include "provider/sqlite/write_job.h"
#include "provider/sqlite/write_queue.h"

namespace perdure::sqlite {

/// Group commit: the one place that writes to the store.
///
/// Jobs wait in two lanes, urgent ones first, each lane in order. As soon as the write lock is got,
/// waiting jobs are taken as one group and committed together, then their topics are published,
/// then they are answered. An entry that fails makes the group roll back and its entries are done
/// again one by one. A job is answered Busy when its deadline passes before its group begins. After
/// a commit that failed the store is opened anew and the group's mark tells: it landed and is
/// answered as if nothing had happened, or it did not and is done again one by one (an entry alone
/// is answered Unavailable). CommitUnknown is the answer only when the store cannot be looked at.
///
/// Threading: `submit`, `poll_once` and `foreign_version` from any thread. Completions run without
/// any lock that `submit` needs; they must not call `poll_once`.
class Writer {
 public:
  struct Options {
    /// True: a thread of its own; false: `poll_once` drives it.
    bool thread = true;
    /// A group takes no further job beyond so many entries; a job is never split.
    std::size_t max_entries = 128;
    /// Nor beyond about so many rows, so that no group holds up a cancel for long.
    std::size_t max_rows = 2'000;
    /// Opens the store again after a commit that failed. Empty (a store in memory): the
    /// connection is kept. Throws SqliteError.
    std::function<std::unique_ptr<Connection>()> reopen;
    /// Told how long the log is, and given way between groups. Must outlive the writer.
    Checkpointer* checkpointer = nullptr;
  };

  Writer(std::unique_ptr<Connection> db, Clock& clock, ChangeHub& hub, Options options);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  /// Finishes the group that has begun; answers queued jobs Unavailable.
  ~Writer();

  void submit(std::unique_ptr<WriteJob> job);

  /// Commits one group and runs its completions; waits while another connection holds the write
  /// lock. False when nothing was queued, and always with a thread.
  bool poll_once();

  bool has_thread() const { return options_.thread; }

  /// Never decreases, and grows when another connection has committed; own commits do not change
  /// it. While a group is being written an older answer is given.
  std::int64_t foreign_version();

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;
  class Running;

  enum class Committed : std::uint8_t { kYes, kBusy, kNo, kUnknown };

  void run_thread();
  void answer_queued_as_stopped();

  // Below: run_mutex_ is held. Whatever is thrown but SqliteError is a broken invariant.
  bool step() noexcept;
  void write_group(std::optional<Transaction>& transaction, WriteJobs group);
  void write_one_by_one(WriteJobs group);
  void write_alone(WriteJob& job, std::size_t entry);

  void begin(std::optional<Transaction>& transaction);
  void apply(WriteJob& job, std::size_t entry, WriteContext& context);
  /// Writes the mark of the group when the group has written anything.
  void write_mark(std::int64_t changes_before, TimePoint now);
  /// Ends the transaction too. kNo: it is certain that nothing of it is or will be in the store.
  Committed commit(std::optional<Transaction>& transaction, SteadyTime deadline);
  /// What became of a commit that failed with `failure`. The store is open again, if it can be.
  Committed look(const SqliteError& failure, SteadyTime deadline);
  void end(std::optional<Transaction>& transaction);
  void wait_for_lock();
  bool answer_expired();
  void answer_committed(const WriteJobs& jobs);

  static void answer_unknown(const WriteJobs& jobs);

  void use(std::unique_ptr<Connection> db);
  void reopen();
  void note_foreign();
  TimePoint read_now();

  Clock& clock_;
  ChangeHub& hub_;
  const Options options_;
  WriteQueue queue_;

  std::mutex run_mutex_;  // held while a group is written and answered
  std::atomic<std::thread::id> runner_{};
  // Guarded by run_mutex_.
  std::unique_ptr<Connection> db_;  // null when the store could not be opened again
  CommitMark mark_;
  bool marked_ = false;  // the group under way has written its mark
  TimePoint last_now_{};
  std::int64_t data_version_ = 0;

  std::atomic<std::int64_t> foreign_{0};
  std::thread thread_;
};

}  // namespace perdure::sqlite
