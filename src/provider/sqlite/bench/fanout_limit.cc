#include "provider/sqlite/bench/fanout_limit.h"

#include <filesystem>

#include "base/clock.h"
#include "provider/sqlite/bench/row_counts.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/transaction.h"
#include "provider/sqlite/write_connection.h"

namespace perdure::sqlite {

namespace {

constexpr const char* kName = "fanout";
constexpr const char* kActivity = "increment";
constexpr const char* kNumber = "1001";

}  // namespace

Result<std::unique_ptr<RunLimit>> RunLimit::make(Setup setup) {
  if (setup.turns < 2 || setup.activities % (setup.turns - 1) != 0) {
    return invalid_argument("each turn but the last has as many activities");
  }
  if (std::filesystem::exists(setup.path)) return invalid_argument(setup.path + " exists");
  // The provider makes the store, so that the schema is its own.
  PERDURE_RETURN_IF_ERROR(open({.path = setup.path, .durability = setup.durability}));
  try {
    return std::unique_ptr<RunLimit>(new RunLimit(std::move(setup)));
  } catch (const SqliteError& error) {
    return to_error(error);
  }
}

RunLimit::RunLimit(Setup setup)
    : setup_(std::move(setup)),
      checkpointer_({.open = [this] { return open_for_writing(setup_.path, setup_.durability); }}),
      db_(open_for_writing(setup_.path, setup_.durability)),
      rows_(*db_) {
  work_row_.queue = RowWriter::kQueue;
  work_row_.name = kActivity;
  work_row_.input = kNumber;
  checkpointer_.watch(*db_);
}

Result<double> RunLimit::run(std::chrono::nanoseconds window) {
  try {
    const auto begin = steady_now();
    const std::int64_t before = runs_;
    std::chrono::duration<double> spent{};
    do {
      commit();
      spent = steady_now() - begin;
    } while (spent < window);
    return static_cast<double>(runs_ - before) / spent.count();
  } catch (const SqliteError& error) {
    return to_error(error);
  }
}

Status RunLimit::check_rows() {
  RowCounts expected{.instances = runs_, .executions = runs_};
  expected.history = runs_ * (2 + 2 * setup_.activities);
  expected.events = runs_;  // executions stay as they were inserted
  return compare_rows("the limit", count_rows(*db_), expected);
}

void RunLimit::commit() {
  checkpointer_.make_way();
  Transaction transaction(*db_);
  now_ = system_clock().now();
  for (std::int64_t i = 0; i < kRunsPerCommit; ++i) write_run();
  transaction.commit();
  runs_ += kRunsPerCommit;
}

void RunLimit::write_run() {
  const std::int64_t width = setup_.activities / (setup_.turns - 1);
  const std::int64_t key = rows_.add_instance(kName, now_);
  last_event_ = RowWriter::kStartedEvent;
  rows_.insert_message(key, MessageKind::kStart, now_);
  lock(key, 1);
  for (int turn = 1; turn < setup_.turns; ++turn) {
    for (std::int64_t i = 0; i < width; ++i) schedule(key);
    unlock(key, turn == 1 ? 1 : width);
    for (const std::int64_t work : work_) finish_work(key, work);
    work_.clear();
    lock(key, width);
    for (std::int64_t i = 0; i < width; ++i) add_event(key, EventKind::kActivityCompleted);
  }
  add_event(key, EventKind::kCompleted);
  unlock(key, width);
}

void RunLimit::lock(std::int64_t key, std::int64_t messages) {
  ++token_;
  expect_changed(
      db_->run(Sql::kMarkVisible, key, now_, kLimitEpoch, token_), messages, "marking messages");
  expect_changed(
      db_->run(Sql::kLockInstance, key, kLimitEpoch, token_, now_, now_, now_), 1, "locking");
}

void RunLimit::unlock(std::int64_t key, std::int64_t messages) {
  expect_changed(
      db_->run(Sql::kDeleteMarked, key, now_, kLimitEpoch, token_), messages, "deleting messages");
  expect_changed(db_->run(Sql::kUnlockAfterTurn, key, nullptr), 1, "unlocking");
}

void RunLimit::schedule(std::int64_t key) {
  add_event(key, EventKind::kActivityScheduled);
  rows_.add_work(key, last_event_, work_row_, now_, now_);
  work_.push_back(db_->last_insert_id());
}

void RunLimit::finish_work(std::int64_t key, std::int64_t work) {
  expect_changed(db_->run(Sql::kClaimWork, work, kLimitEpoch, token_, now_, now_), 1, "claiming");
  expect_changed(db_->run(Sql::kDeleteWork, work), 1, "deleting work");
  rows_.insert_message(key, MessageKind::kActivityCompleted, now_);
}

void RunLimit::add_event(std::int64_t key, EventKind kind) {
  HistoryEvent event;
  event.kind = kind;
  event.payload = kNumber;
  if (kind == EventKind::kActivityScheduled) event.name = kActivity;
  rows_.add_event(key, ++last_event_, event, now_);
}

}  // namespace perdure::sqlite
