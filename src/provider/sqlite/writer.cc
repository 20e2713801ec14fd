#include "provider/sqlite/writer.h"

#include <algorithm>
#include <utility>

#include <sqlite3.h>

#include "base/check.h"
#include "base/failpoint.h"
#include "base/log.h"

namespace perdure::sqlite {

namespace {

// Short, so that deadlines and the end of the writer are seen while another connection writes.
constexpr std::chrono::milliseconds kLockSlice{20};
constexpr std::chrono::milliseconds kPause{1};
// A clock that was set back further than this is followed: leases and timers must not stand still.
constexpr std::chrono::seconds kClockCorrection{1};
// With others who hold the store while the outcome of a commit is looked up.
constexpr std::chrono::seconds kLookPatience{5};

Error deadline_passed() {
  return busy("the store was held by others until the deadline of the call; nothing was written");
}

Error stopped() {
  return unavailable("the store is being closed; nothing was written");
}

Error unknown() {
  return commit_unknown("the commit failed, the write may or may not have happened");
}

Error not_landed() {
  return unavailable("the commit failed and nothing was written");
}

/// Frames that were written whole but not synced may be found by a later recovery of the log, as
/// long as nobody has written over them. After a write that failed the last one is not whole.
bool may_land_later(const SqliteError& failure) {
  return failure.code() != SQLITE_FULL && failure.extended() != SQLITE_IOERR_WRITE;
}

void fail_all(WriteJob& job, const Error& error) {
  for (std::size_t entry = 0; entry < job.entries(); ++entry) job.fail(entry, error);
}

void answer_all(const WriteJobs& jobs, const Error& error) {
  for (const auto& job : jobs) {
    fail_all(*job, error);
    job->answer();
  }
}

std::chrono::steady_clock::time_point last_deadline(const WriteJobs& jobs) {
  auto last = std::chrono::steady_clock::time_point::min();
  for (const auto& job : jobs) last = std::max(last, job->deadline);
  return last;
}

}  // namespace

/// Holds the run mutex and says which thread does.
class Writer::Running {
 public:
  explicit Running(Writer& writer) : writer_(writer) {
    PERDURE_CHECK(writer.runner_ != std::this_thread::get_id(),
                  "a completion must not call the provider synchronously");
    writer_.run_mutex_.lock();
    writer_.runner_ = std::this_thread::get_id();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    writer_.runner_ = std::thread::id();
    writer_.run_mutex_.unlock();
  }

 private:
  Writer& writer_;
};

Writer::Writer(std::unique_ptr<Connection> db, Clock& clock, ChangeHub& hub, Options options)
    : clock_(clock), hub_(hub), options_(std::move(options)) {
  PERDURE_CHECK(db != nullptr, "a writer needs a connection");
  use(std::move(db));
  foreign_ = 0;
  if (options_.thread) thread_ = std::thread([this] { run_thread(); });
}

Writer::~Writer() {
  queue_.stop();
  if (thread_.joinable()) thread_.join();
  answer_queued_as_stopped();
}

void Writer::submit(std::unique_ptr<WriteJob> job) {
  queue_.push(std::move(job));
}

bool Writer::poll_once() {
  if (options_.thread) return false;
  const Running running(*this);
  return step();
}

std::int64_t Writer::foreign_version() {
  if (runner_ != std::this_thread::get_id()) {
    // Who runs notes it as soon as it has the write lock, or waits for it.
    const std::unique_lock lock(run_mutex_, std::try_to_lock);
    if (lock.owns_lock()) note_foreign();
  }
  return foreign_;
}

void Writer::run_thread() {
  while (queue_.wait()) {
    const Running running(*this);
    step();
  }
  answer_queued_as_stopped();
}

void Writer::answer_queued_as_stopped() {
  const Running running(*this);
  // Completions may submit again.
  while (!queue_.empty()) answer_all(queue_.take_all(), stopped());
}

bool Writer::step() noexcept {
  bool worked = answer_expired();
  while (!queue_.empty() && !queue_.stopped()) {
    std::optional<Transaction> transaction;
    try {
      begin(transaction);
    } catch (const SqliteError& error) {
      end(transaction);
      if (error.is_busy()) {
        wait_for_lock();
        worked = true;
        continue;
      }
      answer_all(queue_.take_group(options_.max_entries, options_.max_rows), to_error(error));
      return true;
    }
    const WriteJobs late = queue_.take_expired(steady_now());
    write_group(transaction, queue_.take_group(options_.max_entries, options_.max_rows));
    answer_all(late, deadline_passed());
    return true;
  }
  return worked;
}

void Writer::write_group(std::optional<Transaction>& transaction, WriteJobs group) {
  Topics topics;
  WriteContext context{.db = *db_, .now = read_now(), .topics = topics};
  const std::int64_t changes = db_->total_changes();
  try {
    for (const auto& job : group) {
      for (std::size_t entry = 0; entry < job->entries(); ++entry) apply(*job, entry, context);
    }
    write_mark(changes, context.now);
  } catch (const SqliteError& error) {
    log::debug("a group of writes is done again one by one", {{"error", error.what()}});
    end(transaction);
    write_one_by_one(std::move(group));
    return;
  }

  switch (commit(transaction, last_deadline(group))) {
    case Committed::kBusy:
      return answer_all(group, deadline_passed());
    case Committed::kNo:
      return write_one_by_one(std::move(group));
    case Committed::kUnknown:
      answer_unknown(group);
      break;
    case Committed::kYes:
      break;
  }
  hub_.publish(topics);
  answer_committed(group);
}

void Writer::write_one_by_one(WriteJobs group) {
  for (auto& job : group) {
    for (std::size_t entry = 0; entry < job->entries(); ++entry) write_alone(*job, entry);
    WriteJobs one;
    one.push_back(std::move(job));
    answer_committed(one);
  }
}

void Writer::write_alone(WriteJob& job, std::size_t entry) {
  for (;;) {
    if (steady_now() >= job.deadline) return job.fail(entry, deadline_passed());
    std::optional<Transaction> transaction;
    try {
      begin(transaction);
    } catch (const SqliteError& error) {
      end(transaction);
      if (!error.is_busy()) return job.fail(entry, to_error(error));
      if (queue_.stopped()) return job.fail(entry, stopped());
      wait_for_lock();
      continue;
    }
    if (steady_now() >= job.deadline) {
      end(transaction);
      continue;
    }

    Topics topics;
    try {
      WriteContext context{.db = *db_, .now = read_now(), .topics = topics};
      const std::int64_t changes = db_->total_changes();
      apply(job, entry, context);
      write_mark(changes, context.now);
    } catch (const SqliteError& error) {
      end(transaction);
      return job.fail(entry, to_error(error));
    }
    switch (commit(transaction, job.deadline)) {
      case Committed::kBusy:
        return job.fail(entry, deadline_passed());
      case Committed::kNo:
        return job.fail(entry, not_landed());
      case Committed::kUnknown:
        job.fail(entry, unknown());
        break;
      case Committed::kYes:
        break;
    }
    hub_.publish(topics);
    return;
  }
}

void Writer::begin(std::optional<Transaction>& transaction) {
  if (options_.checkpointer != nullptr) options_.checkpointer->make_way();
  if (db_ == nullptr) use(options_.reopen());
  pass_failpoint("sqlite.begin.before");
  transaction.emplace(*db_);
  pass_failpoint("sqlite.begin.after");
  note_foreign();
}

void Writer::apply(WriteJob& job, std::size_t entry, WriteContext& context) {
  pass_failpoint("sqlite.entry.before");
  job.apply(entry, context);
  pass_failpoint("sqlite.entry.after");
}

void Writer::write_mark(std::int64_t changes_before, TimePoint now) {
  marked_ = db_->total_changes() != changes_before;
  if (marked_) mark_.write(*db_, now);
}

Writer::Committed Writer::commit(std::optional<Transaction>& transaction, SteadyTime deadline) {
  for (;;) {
    try {
      pass_failpoint("sqlite.commit.before");
      transaction->commit();
      pass_failpoint("sqlite.commit.after");
      end(transaction);
      return Committed::kYes;
    } catch (const SqliteError& error) {
      if (!error.is_busy() || !db_->in_transaction()) {
        log::error("a commit failed", {{"error", error.what()}});
        end(transaction);
        return look(error, std::max(deadline, steady_now() + kLookPatience));
      }
    }
    if (steady_now() >= deadline) {
      end(transaction);
      return Committed::kBusy;
    }
    std::this_thread::sleep_for(kPause);
    answer_expired();
  }
}

Writer::Committed Writer::look(const SqliteError& failure, SteadyTime deadline) {
  reopen();
  if (!marked_) return Committed::kNo;
  while (db_ != nullptr) {
    std::optional<Transaction> transaction;
    try {
      pass_failpoint("sqlite.look.before");
      // A commit of its own makes final what is seen: it writes over what the failed one has left
      // in the log, and it succeeds only when the log can be synced.
      const bool seal = may_land_later(failure);
      if (seal) transaction.emplace(*db_);
      const std::optional<bool> landed = mark_.landed(*db_, clock_.now());
      pass_failpoint("sqlite.look.seen");
      if (seal) {
        mark_.write(*db_, read_now());
        transaction->commit();
      }
      end(transaction);
      // Nothing can fail here: looked at again, the mark would be that of the look itself.
      static_cast<void>(failpoint::hit("sqlite.look.after"));
      if (!landed.has_value()) return Committed::kUnknown;
      return *landed ? Committed::kYes : Committed::kNo;
    } catch (const SqliteError& error) {
      end(transaction);
      if (!error.is_busy() || queue_.stopped() || steady_now() >= deadline) {
        log::error("the outcome of a commit cannot be seen", {{"error", error.what()}});
        return Committed::kUnknown;
      }
    }
    wait_for_lock();
  }
  return Committed::kUnknown;
}

void Writer::end(std::optional<Transaction>& transaction) {
  // Rolls back what is not committed; a full disk has done so already.
  transaction.reset();
  if (db_ != nullptr && db_->in_transaction()) reopen();
}

void Writer::wait_for_lock() {
  note_foreign();
  std::this_thread::sleep_for(kPause);
  answer_expired();
}

bool Writer::answer_expired() {
  const WriteJobs expired = queue_.take_expired(steady_now());
  answer_all(expired, deadline_passed());
  return !expired.empty();
}

void Writer::answer_committed(const WriteJobs& jobs) {
  try {
    pass_failpoint("sqlite.answer.before");
  } catch (const SqliteError&) {
    // The answers are lost, the writes are not.
    answer_unknown(jobs);
  }
  for (const auto& job : jobs) job->answer();
}

void Writer::answer_unknown(const WriteJobs& jobs) {
  for (const auto& job : jobs) fail_all(*job, unknown());
}

void Writer::use(std::unique_ptr<Connection> db) {
  db_ = std::move(db);
  db_->set_busy_timeout(kLockSlice);
  if (options_.checkpointer != nullptr) options_.checkpointer->watch(*db_);
  // Versions of two connections cannot be compared: others may have committed in between.
  data_version_ = -1;
  note_foreign();
}

void Writer::reopen() {
  // A store in memory would be lost with its connection.
  if (!options_.reopen) return;
  db_.reset();
  try {
    use(options_.reopen());
  } catch (const SqliteError& error) {
    log::error("the store cannot be opened again", {{"error", error.what()}});
  }
}

void Writer::note_foreign() {
  if (db_ == nullptr) return;
  try {
    const std::int64_t seen = db_->data_version();
    if (seen == data_version_) return;
    data_version_ = seen;
    ++foreign_;
  } catch (const SqliteError& error) {
    log::debug("the data version cannot be read", {{"error", error.what()}});
  }
}

TimePoint Writer::read_now() {
  const TimePoint now = clock_.now();
  if (now > last_now_ || last_now_ - now > kClockCorrection) last_now_ = now;
  return last_now_;
}

}  // namespace perdure::sqlite
