#include "tests/races/race_steps.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/clock.h"
#include "runtime/sleeper.h"
#include "tests/races/order.h"

namespace perdure::races {

namespace {

using namespace std::chrono_literals;

constexpr const char* kRun = "a";
constexpr const char* kChild = "kid";
/// Longer than anything takes that works.
constexpr std::chrono::seconds kPatience{60};

template <class T>
T value_of(Result<T> result, const char* what) {
  if (!result.ok()) throw std::runtime_error(std::string(what) + ": " + result.error().message);
  return std::move(result).value();
}

template <class T>
std::string ok_or_code(const Result<T>& result) {
  return result.ok() ? "ok" : std::string(to_string(result.code()));
}

std::string_view name_of(ClaimState state) {
  switch (state) {
    case ClaimState::kRenewed:
      return "renewed";
    case ClaimState::kCanceled:
      return "canceled";
    case ClaimState::kGone:
      break;
  }
  return "gone";
}

std::string kinds_of(const std::vector<Message>& messages) {
  std::string text;
  for (const Message& message : messages) {
    text += (text.empty() ? "" : "+") + std::string(to_string(message.kind));
  }
  return text;
}

Duration past_all_limits(const Scene& scene) {
  if (scene.overdue) return 61s;
  if (scene.lapsed) return 31s;
  return scene.timer ? 11s : 0s;
}

}  // namespace

std::unique_ptr<conformance::StoreUnderTest> RaceSteps::make_store() {
  return conformance::shared_stores().front().make();
}

void RaceSteps::SetUp() {
  Conformance::SetUp();
  other_ = register_another();
  settler_ =
      std::make_shared<runtime::Settler>(runtime::Settler::Parts{store(), attempts_, suspects_});
  timer_ = std::make_unique<runtime::AttemptTimer>(
      settler_, std::make_shared<SeededRandom>(1), Duration::zero());
}

void RaceSteps::TearDown() {
  timer_.reset();
  settler_->close();
  Conformance::TearDown();
}

void RaceSteps::set(const Scene& scene, Deed first) {
  scene_ = scene;
  first_turn();
  if (scene.claimed) claim_calls();
  if (scene.dropped) drop_call();
  if (scene.canceled) cancel_run();
  if (scene.turn || scene.timer_turn) {
    poke(kRun);
    // Else it is fetched when the timer is due, by `kTimerFires` itself.
    if (scene.turn || first != Deed::kTimerFires) turn_ = lock_for_an_hour();
  }
  advance(past_all_limits(scene));
}

void RaceSteps::first_turn() {
  start(kRun);
  const OrchestrationItem item = lock(kRun);
  TurnCommit decisions = turn(item);
  NewWork work;
  if (scene_.waits || scene_.dropped || scene_.canceled) work.on_cancel = OnCancel::kWait;
  if (scene_.overdue) work.timeouts.schedule_to_close = 60s;
  if (scene_.limited) work.timeouts.start_to_close = 1s;
  call_ = schedule(decisions, item, work);
  if (scene_.two_calls) schedule(decisions, item);
  if (scene_.timer) timer_event_ = schedule_timer(decisions, item, now() + 10s);
  commit(std::move(decisions));
}

void RaceSteps::claim_calls() {
  FetchWorkItems request = claim_request(scene_.two_calls ? 2 : 1);
  request.lock_for = scene_.lapsed ? Duration(30s) : Duration(1h);
  auto claimed = value_of(store().fetch_work_items(std::move(request)), "claim").items;
  mine_ = claimed.at(0);
  latest_ = mine_;
  if (scene_.two_calls) second_ = claimed.at(1);
  attempt_ = std::make_shared<runtime::Attempt>(
      *mine_,
      runtime::Attempt::Surroundings{.sleeper = runtime::real_sleeper(),
                                     .firer = std::make_shared<runtime::DirectFirer>(),
                                     .worker = "here"},
      steady_now() - 1h,
      steady_now() - 1h);
  attempts_.add(attempt_);
}

void RaceSteps::drop_call() {
  poke(kRun);
  const OrchestrationItem item = lock(kRun);
  TurnCommit decisions = turn(item);
  HistoryEvent event = next_event(item, decisions, EventKind::kActivityDropped);
  event.source = call_;
  decisions.events.push_back(std::move(event));
  decisions.canceled_work.push_back(call_);
  tell_to_stop(commit(std::move(decisions)).touched);
}

void RaceSteps::cancel_run() {
  tell_to_stop(cancel(kRun).touched);
}

void RaceSteps::tell_to_stop(const std::vector<TouchedClaim>& touched) {
  EXPECT_EQ(touched, (std::vector{TouchedClaim{mine_->id, mine_->lock, true}})) << "not marked";
  attempts_.fire(touched, "dropped");
  EXPECT_EQ(attempt_->stopped_by(), runtime::StopCause::kCanceled);
}

OrchestrationItem RaceSteps::lock_for_an_hour() {
  FetchOrchestrationItems request = fetch_request(1);
  request.lock_for = 1h;
  auto fetched = value_of(store().fetch_orchestration_items(std::move(request)), "lock");
  return std::move(fetched.items.at(0));
}

std::string RaceSteps::perform(Deed deed) {
  switch (deed) {
    case Deed::kCancel:
    case Deed::kTerminate:
      return take_down(deed);
    case Deed::kClaim:
      return claim_by_other();
    case Deed::kComplete:
      return settle("complete", Kind::kCompleted);
    case Deed::kFail:
      return settle("fail", Kind::kFailed);
    case Deed::kRetryBackoff:
      return settle("retry", Kind::kRetryAt);
    case Deed::kTimerFires:
      return fire_timer();
    case Deed::kChildStart:
    case Deed::kContinueAsNew:
    case Deed::kSelect:
    case Deed::kAck:
      return commit_turn(deed);
    case Deed::kCallTimeout:
      return time_out();
    case Deed::kRenewal:
      return "renewal " + std::string(name_of(renew(*mine_, 1h)));
    case Deed::kCheck:
      return "check " + std::string(name_of(check(*mine_)));
    case Deed::kEndOfGrace:
      return end_grace();
    case Deed::kLeaseSweep:
      return sweep_leases();
    case Deed::kShutdown:
    case Deed::kTakeover:
      return end_process(deed);
    case Deed::kDelete:
      return delete_run();
  }
  throw std::runtime_error("no such deed");
}

std::string RaceSteps::take_down(Deed deed) {
  const bool cancels = deed == Deed::kCancel;
  const std::string name = cancels ? "cancel " : "terminate ";
  const Result<CancelAnswer> answer =
      cancels ? store().cancel_orchestration({.id = kRun, .reason = "because"})
              : store().terminate_orchestration({.id = kRun, .reason = "because"});
  if (!answer.ok()) return name + ok_or_code(answer);
  if (!answer->changed) return name + "changes nothing" + fired(answer->touched);
  return name + std::string(to_string(answer->status)) + fired(answer->touched);
}

std::string RaceSteps::claim_by_other() {
  FetchWorkItems request = claim_request(1);
  request.epoch = other_->epoch();
  request.tokens = other_->next(1);
  request.lock_for = 1h;
  auto claimed = value_of(store().fetch_work_items(std::move(request)), "claim").items;
  if (!claimed.empty()) latest_ = claimed[0];
  return "claim " + std::to_string(claimed.size());
}

const WorkItem& RaceSteps::next_call() {
  return std::exchange(had_outcome_, true) && second_ ? *second_ : *mine_;
}

std::string RaceSteps::settle(const char* name, Kind kind) {
  SettledWork work = settled(next_call(), kind);
  if (kind == Kind::kCompleted) work.outcome.result = "\"done\"";
  if (kind != Kind::kCompleted) work.outcome.failure = {.type = "boom", .message = "it broke"};
  if (kind == Kind::kRetryAt) work.outcome.delay = 10s;
  return std::string(name) + " " + ok_or_code(try_settle(std::move(work)));
}

std::string RaceSteps::fire_timer() {
  if (!scene_.timer_turn || turn_) return fetch_by_other();
  turn_ = lock_for_an_hour();
  return "turn hears " + kinds_of(turn_->messages);
}

std::string RaceSteps::fetch_by_other() {
  turn_of_other_ = fetch_run();
  return turn_of_other_ ? "fetch hears " + kinds_of(turn_of_other_->messages) : "fetch none";
}

std::string RaceSteps::commit_turn(Deed deed) {
  TurnCommit decisions = turn(*turn_);
  std::string name = "ack ";
  if (deed == Deed::kChildStart) {
    name = "child ";
    schedule_child(decisions, *turn_, kChild);
  } else if (deed == Deed::kContinueAsNew) {
    name = "continue ";
    finish(decisions, *turn_, ExecutionStatus::kContinuedAsNew);
  } else if (deed == Deed::kSelect) {
    name = "select ";
    HistoryEvent event = next_event(*turn_, decisions, EventKind::kActivityDropped);
    event.source = call_;
    decisions.events.push_back(std::move(event));
    decisions.canceled_work.push_back(call_);
    if (timer_event_) decisions.canceled_timers.push_back(*timer_event_);
  } else {
    finish(decisions, *turn_, ExecutionStatus::kCompleted);
  }
  const Result<TurnCommitted> committed = try_commit(std::move(decisions));
  return name + ok_or_code(committed) + (committed.ok() ? fired(committed->touched) : "");
}

std::string RaceSteps::time_out() {
  if (!scene_.limited) {
    const SweptWork swept = value_of(store().sweep_work_items(), "sweep");
    return "timeout " + std::to_string(swept.timed_out) + fired(swept.touched);
  }
  timer_->watch(attempt_);
  settler_->wait(kPatience);
  timer_.reset();  // it has done all that it does for this attempt
  EXPECT_TRUE(settler_->poll_once().worked) << "its time is over, and it was not settled";
  EXPECT_EQ(attempt_->stopped_by(), runtime::StopCause::kTimedOut);
  return "timeout";
}

std::string RaceSteps::sweep_leases() {
  const SweptWork swept = value_of(store().sweep_work_items(), "sweep");
  if (swept.lost > 0) return "sweep lost " + std::to_string(swept.lost) + fired(swept.touched);
  if (swept.ended > 0) return "sweep ended " + std::to_string(swept.ended) + fired(swept.touched);
  return "sweep nothing" + fired(swept.touched);
}

/// The handler was told: by the drop of its call, else because the claim seemed to be lost. It does
/// not return.
std::string RaceSteps::end_grace() {
  attempt_->stop(runtime::StopCause::kClaimLost, "nobody knows");
  const auto slots = std::make_shared<runtime::Slots>(std::size_t{1});
  slots->take(1);
  const auto slot = std::make_shared<runtime::HeldSlot>(slots);
  timer_->watch_grace(attempt_, slot);
  settler_->wait(kPatience);
  EXPECT_TRUE(settler_->poll_once().worked) << "grace is over, and it was not settled";
  const bool canceled = attempt_->stopped_by() == runtime::StopCause::kCanceled;
  expect_order("runtime.grace_over", canceled ? "store.stopped" : "store.give_back");
  EXPECT_FALSE(slot->end()) << "the slot is free";
  EXPECT_FALSE(attempt_->settle()) << "what the handler still brings is dropped";
  return "grace";
}

std::string RaceSteps::end_process(Deed deed) {
  const bool shuts_down = deed == Deed::kShutdown;
  const std::string name = shuts_down ? "shutdown " : "takeover ";
  const ProcessEnded ended = value_of(shuts_down ? store().release_process({.epoch = epoch()})
                                                 : store().take_over({.epoch = epoch()}),
                                      "end of a process");
  if (!ended.changed) return name + "changes nothing";
  return name + "frees " + std::to_string(ended.freed_claims) + "+" +
         std::to_string(ended.freed_locks) + ", ends " + std::to_string(ended.ended_rows);
}

std::string RaceSteps::delete_run() {
  const auto deleted = store().delete_instance({.id = kRun, .force = true});
  return "delete " + ok_or_code(deleted) + (deleted.ok() ? fired(deleted->touched) : "");
}

std::optional<OrchestrationItem> RaceSteps::fetch_run() {
  FetchOrchestrationItems request = fetch_request(0);
  request.epoch = other_->epoch();
  request.tokens = other_->next(4);
  request.lock_for = 1h;
  auto fetched = value_of(store().fetch_orchestration_items(std::move(request)), "fetch");
  std::optional<OrchestrationItem> found;
  for (OrchestrationItem& item : fetched.items) {
    if (item.id == kRun) {
      found = std::move(item);
    } else {
      give_back(item);
    }
  }
  return found;
}

void RaceSteps::give_back(const std::optional<OrchestrationItem>& item) {
  if (!item) return;
  AbandonOrchestrationItems request;
  request.entries.push_back({.instance = item->instance, .lock = item->lock});
  value_of(store().abandon_orchestration_items(std::move(request)), "give back");
}

std::string RaceSteps::fired(const std::vector<TouchedClaim>& touched) {
  for (const TouchedClaim& claim : touched) {
    EXPECT_EQ(claim.id, latest_.value().id);
    EXPECT_EQ(claim.lock, latest_.value().lock) << "another claim was told";
  }
  return touched.empty() ? "" : ", fires " + std::to_string(touched.size());
}

std::string RaceSteps::rest() {
  std::string text;
  if (turn_of_other_) {
    text += "its ack " + ok_or_code(try_commit(turn(*turn_of_other_))) + "; ";
    give_back(turn_of_other_);
  }
  give_back(turn_);
  const auto run = store().get_instance(kRun);
  text += run.ok() ? std::string(to_string(run->current.status)) : std::string("gone");
  text += work_left();
  if (const auto item = fetch_run()) text += ", hears " + kinds_of(item->messages);
  const auto child = store().get_instance(kChild);
  if (child.ok()) text += ", kid " + std::string(to_string(child->current.status));
  return text;
}

std::string RaceSteps::work_left() {
  WorkDepth sum;
  for (const QueueDepth& queue : value_of(store().queue_depths(), "depths").queues) {
    for (const WorkDepth& work : queue.work) {
      sum.ready += work.ready;
      sum.delayed += work.delayed;
      sum.claimed += work.claimed;
      sum.held += work.held;
    }
  }
  std::string text;
  if (sum.ready > 0) text += ", ready " + std::to_string(sum.ready);
  if (sum.delayed > 0) text += ", delayed " + std::to_string(sum.delayed);
  if (sum.claimed > 0) text += ", claimed " + std::to_string(sum.claimed);
  EXPECT_EQ(sum.held, 0);
  return text;
}

void RaceSteps::expect_whole_history() {
  if (!store().get_instance(kRun).ok()) return;
  const std::vector<HistoryEvent> events = history(kRun);
  std::int64_t expected = 1;
  std::int64_t ends = 0;
  for (const HistoryEvent& event : events) {
    EXPECT_EQ(event.id, EventId{expected++});
    if (is_terminal(event.kind)) ++ends;
  }
  const bool ended = is_terminal(status(kRun));
  EXPECT_EQ(ends, ended ? 1 : 0);
  EXPECT_EQ(is_terminal(events.back().kind), ended) << "an end is the last event";
}

}  // namespace perdure::races
