#include "provider/sqlite/bench/limit.h"

#include <algorithm>
#include <filesystem>

#include "provider/sqlite/bench/row_counts.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/transaction.h"
#include "provider/sqlite/write_connection.h"

namespace perdure::sqlite {

Result<std::unique_ptr<TurnLimit>> TurnLimit::make(Setup setup) {
  if (setup.turn.events.size() != 3 || setup.turn.work.size() != 1) {
    return invalid_argument("the turn of the limit has 3 events and 1 work");
  }
  if (std::filesystem::exists(setup.path)) return invalid_argument(setup.path + " exists");
  // The provider makes the store, so that the schema is its own.
  PERDURE_RETURN_IF_ERROR(open({.path = setup.path, .durability = setup.durability}));
  try {
    return std::unique_ptr<TurnLimit>(new TurnLimit(std::move(setup)));
  } catch (const SqliteError& error) {
    return to_error(error);
  }
}

TurnLimit::TurnLimit(Setup setup)
    : setup_(std::move(setup)),
      checkpointer_({.open = [this] { return open_for_writing(setup_.path, setup_.durability); }}),
      db_(open_for_writing(setup_.path, setup_.durability)),
      rows_(*db_),
      had_turns_(setup_.turns_each) {
  checkpointer_.watch(*db_);
}

Result<double> TurnLimit::run(std::int64_t per_commit, std::chrono::nanoseconds window) {
  try {
    std::chrono::nanoseconds spent{};
    std::int64_t turns = 0;
    while (spent < window) {
      if (written_ == prepared_) prepare();
      const std::int64_t portion = std::min(per_commit, prepared_ - written_);
      const auto begin = steady_now();
      commit(portion);
      spent += steady_now() - begin;
      turns += portion;
    }
    return static_cast<double>(turns) / std::chrono::duration<double>(spent).count();
  } catch (const SqliteError& error) {
    return to_error(error);
  }
}

Status TurnLimit::check_rows() {
  const std::int64_t open = prepared_ - written_;
  RowCounts expected{.instances = started_, .executions = started_, .work = written_};
  expected.messages = expected.locks = open;
  expected.history = expected.events = started_ + 3 * turns_;
  return compare_rows("the limit", count_rows(*db_), expected);
}

/// A marked message and a lock for each instance; the work of the turns before is done.
void TurnLimit::prepare() {
  checkpointer_.make_way();
  Transaction transaction(*db_);
  now_ = system_clock().now();
  db_->run_text("DELETE FROM worker_queue");
  if (had_turns_ == setup_.turns_each) {
    for (std::int64_t i = 0; i < setup_.instances; ++i) rows_.add_instance("bench", now_);
    started_ += setup_.instances;
    had_turns_ = 0;
  }
  token_ = turns_ + 1;
  for (std::int64_t i = 0; i < setup_.instances; ++i) {
    rows_.add_message(key_of(i), now_, now_);
    db_->run(Sql::kMarkVisible, key_of(i), now_, kLimitEpoch, token_);
    db_->run(Sql::kLockInstance, key_of(i), kLimitEpoch, token_, now_, now_, now_);
  }
  transaction.commit();
  ++had_turns_;
  prepared_ = setup_.instances;
  written_ = 0;
}

void TurnLimit::commit(std::int64_t turns) {
  checkpointer_.make_way();
  Transaction transaction(*db_);
  for (std::int64_t i = 0; i < turns; ++i) write_turn(key_of(written_ + i));
  transaction.commit();
  written_ += turns;
  turns_ += turns;
}

void TurnLimit::write_turn(std::int64_t key) {
  std::int64_t event_id = 1 + 3 * (had_turns_ - 1);
  expect_changed(
      db_->run(Sql::kDeleteMarked, key, now_, kLimitEpoch, token_), 1, "deleting the message");
  for (const HistoryEvent& event : setup_.turn.events) {
    rows_.add_event(key, ++event_id, event, now_);
  }
  rows_.add_work(key, event_id, setup_.turn.work[0], now_, now_);
  const auto status = ExecutionStatus::kRunning;
  expect_changed(db_->run(Sql::kCommitExecution,
                          key,
                          RowWriter::kExecution,
                          status,
                          nullptr,
                          0,
                          event_id,
                          kLimitEpoch,
                          token_,
                          nullptr),
                 1,
                 "updating the execution");
  expect_changed(db_->run(Sql::kUnlockAfterTurn, key, nullptr), 1, "releasing the lock");
}

}  // namespace perdure::sqlite
