#include "cli/bench/turn_loop.h"

#include <algorithm>
#include <latch>

#include "base/clock.h"
#include "cli/bench/turn_shape.h"

namespace perdure::bench {

namespace {

/// Of calls that are not measured.
constexpr std::size_t kBatch = 128;
/// Nothing may expire, however slow the machine is.
constexpr Duration kLockFor = std::chrono::hours(1);

}  // namespace

Result<TurnLoop::Window> TurnLoop::run(const Committer& committer,
                                       std::size_t claim_batch,
                                       std::chrono::nanoseconds length) {
  Window window;
  while (window.turns.spent < length) {
    if (!had_turns_ || *had_turns_ == kTurnsEach) {
      PERDURE_RETURN_IF_ERROR(finish());
      PERDURE_RETURN_IF_ERROR(start_all());
    }
    PERDURE_ASSIGN_OR_RETURN(const auto items, lock_all());
    std::vector<TurnCommit> turns;
    turns.reserve(items.size());
    for (const OrchestrationItem& item : items) turns.push_back(make_turn(item));
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(length - window.turns.spent);
    PERDURE_ASSIGN_OR_RETURN(const Rate committed, committer(turns, left));
    window.turns.add(committed);
    PERDURE_RETURN_IF_ERROR(commit_rest(turns, static_cast<std::size_t>(committed.units)));
    turns_ += static_cast<std::int64_t>(turns.size());
    ++*had_turns_;
    PERDURE_ASSIGN_OR_RETURN(const Rate claimed, claim_all(claim_batch, length));
    window.claims.add(claimed);
    PERDURE_RETURN_IF_ERROR(settle_all());
  }
  report_.seconds += (window.turns.spent + window.claims.spent).count();
  report_.completed += window.turns.units;
  return window;
}

Status TurnLoop::commit(std::vector<TurnCommit>& turns, std::size_t from, std::size_t count) {
  AckOrchestrationItems ack;
  const auto first = turns.begin() + static_cast<std::ptrdiff_t>(from);
  ack.entries.assign(std::make_move_iterator(first),
                     std::make_move_iterator(first + static_cast<std::ptrdiff_t>(count)));
  PERDURE_ASSIGN_OR_RETURN(const auto answers, store_.ack_orchestration_items(std::move(ack)));
  if (answers.size() != count) wrong("a commit has not one answer for each turn");
  for (const Result<TurnCommitted>& answer : answers) {
    if (!answer.ok()) {
      wrong("a turn was refused: " + answer.error().message);
    } else if (answer->more_now || answer->next_at || !answer->touched.empty()) {
      wrong("a turn was told of messages or claims that are not there");
    }
  }
  return {};
}

Status TurnLoop::finish() {
  if (!had_turns_) return {};
  PERDURE_ASSIGN_OR_RETURN(const auto items, lock_all());
  std::vector<TurnCommit> turns;
  for (const OrchestrationItem& item : items) turns.push_back(make_last_turn(item));
  had_turns_.reset();
  return commit_rest(turns, 0);
}

Status TurnLoop::start_all() {
  std::latch answered(instances_);
  std::atomic<int> refused{0};
  for (std::int64_t i = 0; i < instances_; ++i) {
    StartOrchestration start;
    start.id = "run-" + std::to_string(started_ + i);
    start.name = kOrchestration;
    start.queue = kQueue;
    start.input = R"({"order":"A-1001"})";
    store_.submit(std::move(start),
                  [&](const Result<OrchestrationStarted>& answer) {
                    if (!answer.ok()) ++refused;
                    answered.count_down();
                  },
                  {});
  }
  answered.wait();
  if (refused > 0) return unavailable(std::to_string(refused) + " starts were refused");
  started_ += instances_;
  had_turns_ = 0;
  return {};
}

Result<std::vector<OrchestrationItem>> TurnLoop::lock_all() {
  std::vector<OrchestrationItem> items;
  while (items.size() < all()) {
    FetchOrchestrationItems fetch;
    fetch.epoch = mint_.epoch();
    fetch.queue = kQueue;
    fetch.served = {{kOrchestration, ""}};
    fetch.tokens = mint_.next(std::min(kBatch, all() - items.size()));
    fetch.lock_for = kLockFor;
    PERDURE_ASSIGN_OR_RETURN(auto fetched, store_.fetch_orchestration_items(std::move(fetch)));
    if (fetched.items.empty()) {
      return corrupt("only " + std::to_string(items.size()) + " instances are ready");
    }
    for (OrchestrationItem& item : fetched.items) {
      check(item);
      items.push_back(std::move(item));
    }
  }
  return items;
}

Status TurnLoop::commit_rest(std::vector<TurnCommit>& turns, std::size_t from) {
  for (std::size_t at = from; at < turns.size(); at += kBatch) {
    PERDURE_RETURN_IF_ERROR(commit(turns, at, std::min(kBatch, turns.size() - at)));
  }
  return {};
}

Result<Rate> TurnLoop::claim_all(std::size_t batch, std::chrono::nanoseconds at_most) {
  Rate rate;
  while (claimed_.size() < all()) {
    const bool timed = rate.spent < at_most;
    const std::size_t wanted = std::min(timed ? batch : kBatch, all() - claimed_.size());
    const auto begin = steady_now();
    PERDURE_ASSIGN_OR_RETURN(const std::size_t got, claim(wanted));
    if (timed) rate.add({static_cast<std::int64_t>(got), steady_now() - begin});
    if (got == 0) {
      return corrupt("only " + std::to_string(claimed_.size()) + " work rows are ready");
    }
  }
  return rate;
}

Result<std::size_t> TurnLoop::claim(std::size_t count) {
  FetchWorkItems fetch;
  fetch.epoch = mint_.epoch();
  fetch.queue = kQueue;
  fetch.names = {kActivity};
  fetch.tokens = mint_.next(count);
  fetch.lock_for = kLockFor;
  PERDURE_ASSIGN_OR_RETURN(auto fetched, store_.fetch_work_items(std::move(fetch)));
  for (WorkItem& item : fetched.items) {
    if (item.work.name != kActivity || item.attempt() != 1) wrong("a claimed row is not as made");
    claimed_.push_back(std::move(item));
  }
  return fetched.items.size();
}

Status TurnLoop::settle_all() {
  for (std::size_t at = 0; at < claimed_.size(); at += kBatch) {
    AckWorkItems ack;
    for (std::size_t i = at; i < std::min(at + kBatch, claimed_.size()); ++i) {
      SettledWork settled{.id = claimed_[i].id, .lock = claimed_[i].lock};
      settled.outcome.result = R"({"receipt":"R-20931"})";
      ack.entries.push_back(std::move(settled));
    }
    PERDURE_ASSIGN_OR_RETURN(const auto answers, store_.ack_work_items(std::move(ack)));
    for (const Status& answer : answers) {
      if (!answer.ok()) wrong("a result was refused: " + answer.error().message);
    }
  }
  claimed_.clear();
  return {};
}

void TurnLoop::check(const OrchestrationItem& item) {
  const auto events = 1 + *had_turns_ * static_cast<std::int64_t>(kEventsPerTurn);
  if (item.problem) wrong("instance '" + item.id + "': " + item.problem->message);
  if (item.messages.size() != 1) wrong("instance '" + item.id + "' has not one message");
  if (item.last_event.value != events) wrong("instance '" + item.id + "' has other events");
}

void TurnLoop::wrong(const std::string& problem) {
  const std::lock_guard lock(report_mutex_);
  report_.fail(problem);
}

}  // namespace perdure::bench
