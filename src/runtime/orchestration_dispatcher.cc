#include "runtime/orchestration_dispatcher.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.h"
#include "provider/stop_reasons.h"
#include "runtime/histories.h"
#include "runtime/served.h"
#include "runtime/turn.h"
#include "runtime/turn_to_commit.h"

namespace perdure::runtime {

namespace {

constexpr const char* kNotReturned =
    "a turn of this run has not returned in this process; until it does the run is not tried again "
    "here. Its stack is in the log";

/// Until a run whose code is stuck here is offered again, to whoever can run it. It does not grow:
/// the delay is that of the run, for all processes.
constexpr Duration kShutOut = std::chrono::seconds(1);

BlockedReason blocked_by(ErrorCode code) {
  return code == ErrorCode::kCorrupt ? BlockedReason::kCorrupt : BlockedReason::kStoreError;
}

/// What a query hears of what would block a run that has not ended.
Failure failure_by(BlockedReason reason, std::string detail) {
  return {std::string(to_string(reason)), std::move(detail), false, {}};
}

/// True when the deadline of the run has come and nobody has canceled it yet.
bool is_overdue(const OrchestrationItem& item, TimePoint now) {
  return !item.cancel_requested_at && item.deadline && *item.deadline <= now;
}

/// The next moment from which on a run that cannot move must be looked at without its code.
std::optional<TimePoint> ends_without_code(const OrchestrationItem& item) {
  return item.cancel_requested_at ? item.cleanup_at : item.deadline;
}

/// `delay`, but not past the deadline or the time for cleanup, when the run needs no code any more.
Duration while_code_is_needed(const OrchestrationItem& item, TimePoint now, Duration delay) {
  const auto at = ends_without_code(item);
  return at && *at > now ? std::min(delay, *at - now) : delay;
}

/// True when the execution goes on after one that continued as new.
bool continues(const std::vector<HistoryEvent>& history) {
  return !history.empty() && history.front().source != EventId{};
}

void write_log(const OrchestrationItem& item, const replay::TurnResult& result) {
  for (const std::string& warning : result.warnings) {
    log::warning(warning, {{"instance", item.id}, {"orchestration", item.name}});
  }
  constexpr int kLowest = static_cast<int>(log::Level::kDebug);
  for (const replay::LogLine& line : result.log) {
    const int level =
        std::clamp(kLowest + line.level, kLowest, static_cast<int>(log::Level::kError));
    log::write(static_cast<log::Level>(level), line.text, {{"instance", item.id}});
  }
}

}  // namespace

OrchestrationDispatcher::OrchestrationDispatcher(Parts parts, DispatcherOptions options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      runner_(std::move(parts_.runner)),
      replay_check_({parts_.provider, parts_.frames, parts_.random, runner_}, options_) {}

Step OrchestrationDispatcher::poll_once() {
  FetchOrchestrationItems fetch;
  fetch.epoch = parts_.tokens.epoch();
  fetch.queue = options_.queue;
  fetch.served = served_by(parts_.handlers);
  fetch.tokens = parts_.tokens.next(options_.batch);
  fetch.lock_for = options_.lock_timeout;
  const auto asked_at = steady_now();
  auto fetched = parts_.provider.fetch_orchestration_items(std::move(fetch));
  if (!fetched.ok()) return {.trouble = std::move(fetched).error()};
  const TurnLocks::Holding holding(locks_, fetched->items, asked_at);
  Step step;
  step.worked = !fetched->items.empty();
  step.next_at = fetched->next_at;
  std::vector<Turn> turns = prepare(std::move(fetched->items), fetched->now);
  read_missing(turns, fetched->now);
  run(turns, fetched->now);
  check_replays(turns);
  return step;
}

std::vector<OrchestrationDispatcher::Turn> OrchestrationDispatcher::prepare(
    std::vector<OrchestrationItem> items, TimePoint now) {
  // A query of an ended run may block: live runs do not wait for it.
  std::stable_partition(items.begin(), items.end(), [](const OrchestrationItem& item) {
    return !is_terminal(item.status);
  });
  std::vector<Turn> turns(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    turns[i].item = std::move(items[i]);
    look_up(turns[i], now);
  }
  return turns;
}

void OrchestrationDispatcher::look_up(Turn& turn, TimePoint now) {
  const OrchestrationItem& item = turn.item;
  if (turn.of_ended()) {
    for (const Message& query : item.messages) turn.queries.push_back(query.text);
  }
  if (item.problem) return set_aside(turn, *item.problem);
  if (turn.of_ended()) {
    turn.main = find_main(parts_.handlers, item);
    if (turn.main != nullptr) return;
    // Another process may have the code.
    return turn.block(options_.backoff.after(1), BlockedReason::kUnserved, not_registered(item));
  }
  if (is_overdue(item, now)) return cancel_overdue(turn);
  turn.past_cleanup = item.cancel_requested_at && item.cleanup_at && *item.cleanup_at <= now;
  if (shut_out(turn, now)) return;
  turn.main = find_main(parts_.handlers, item);
  if (turn.main == nullptr && !turn.past_cleanup) {
    return block_by_code(turn, now, BlockedReason::kUnserved, not_registered(item));
  }
  turn.frames = parts_.frames.take(turn.key_before());
  turn.cached = turn.frames != nullptr;
}

/// What the store has of the run cannot be read. Nothing mends that while a query waits.
void OrchestrationDispatcher::set_aside(Turn& turn, const Error& error) {
  const BlockedReason reason = blocked_by(error.code);
  if (turn.of_ended() && reason == BlockedReason::kCorrupt) {
    return turn.fail_queries(failure_by(reason, error.message));
  }
  turn.block(options_.backoff.after(turn.item.deferrals + 1), reason, error.message);
}

/// Whether the code of the run is not to be run here. Past its cleanup it ends without.
bool OrchestrationDispatcher::shut_out(Turn& turn, TimePoint now) {
  if (!runner_.quarantine().holds(turn.item.instance)) return false;
  if (turn.past_cleanup) {
    turn.no_code = kNotReturned;
  } else {
    turn.put_off(
        while_code_is_needed(turn.item, now, kShutOut), BlockedReason::kDeadlock, kNotReturned);
  }
  return true;
}

void OrchestrationDispatcher::block_by_code(Turn& turn,
                                            TimePoint now,
                                            BlockedReason reason,
                                            std::string detail) {
  const Duration delay = options_.backoff.after(turn.item.deferrals + 1);
  turn.block(while_code_is_needed(turn.item, now, delay), reason, std::move(detail));
}

/// The cancel is a commit of its own; the turn that hears of it comes with the next fetch, where
/// the cancel stands first.
void OrchestrationDispatcher::cancel_overdue(Turn& turn) {
  CancelOrchestration cancel;
  cancel.id = turn.item.id;
  cancel.execution = turn.item.execution;  // not one that was started under its id since
  cancel.reason = "deadline";
  cancel.cleanup_timeout = options_.cleanup_timeout;
  const Result<CancelAnswer> answer = parts_.provider.cancel_orchestration(std::move(cancel));
  if (answer.ok()) {
    parts_.attempts.fire(answer->touched, "deadline");
    return turn.again();
  }
  turn.block(options_.backoff.after(turn.item.deferrals + 1),
             blocked_by(answer.code()),
             "the run is past its deadline and could not be canceled: " + answer.error().message);
}

void OrchestrationDispatcher::read_missing(std::vector<Turn>& turns, TimePoint now) {
  std::vector<Turn*> missing;
  std::vector<WantedHistory> wanted;
  for (Turn& turn : turns) {
    if (!turn.open() || turn.result || turn.frames) continue;
    missing.push_back(&turn);
    wanted.push_back({turn.item.instance, turn.item.execution, turn.item.last_event});
  }
  if (missing.empty()) return;
  auto histories = read_histories(parts_.provider, wanted, options_.history_page);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    Turn& turn = *missing[i];
    if (!histories[i].ok()) {
      set_aside(turn, histories[i].error());
      continue;
    }
    if (turn.main != nullptr && continues(*histories[i])) {
      turn.main = find_main(parts_.handlers, turn.item, true);
    }
    if (turn.main == nullptr && !turn.past_cleanup) {
      block_by_code(turn, now, BlockedReason::kUnserved, not_registered(turn.item));
      continue;
    }
    turn.history = std::move(histories[i]).value();
  }
}

/// What stands before a turn that does not return is committed before the others are run: those
/// may not return either.
void OrchestrationDispatcher::run(std::vector<Turn>& turns, TimePoint now) {
  Turns rest;
  rest.reserve(turns.size());
  for (Turn& turn : turns) {
    if (turn.open() && !turn.result) make_code(turn, now);
    rest.push_back(&turn);
  }
  while (!rest.empty()) {
    const Turns round = run_some(rest, now);
    commit(round);
    give_back(round);
    if (rest.empty()) return;
    for (const Turn* turn : round) locks_.release(turn->item.lock);
    if (!runner_.hurried()) continue;
    for (Turn* turn : rest) {
      if (turn->open()) turn->again();
    }
  }
}

void OrchestrationDispatcher::make_code(Turn& turn, TimePoint now) {
  OrchestrationItem& item = turn.item;
  if (turn.of_ended() && runner_.quarantine().holds(item.instance)) {
    return turn.fail_queries(failure_by(BlockedReason::kDeadlock, kNotReturned));
  }
  turn.code = std::make_shared<TurnCode>(
      owner_of(item, turn.main, options_.deadlock_timeout), std::move(item.messages), now);
  item.messages.clear();
  turn.code->frames = std::move(turn.frames);
  turn.code->no_code = turn.no_code;
  if (!turn.history) return;
  turn.code->recipe = FrameRecipe{item,
                                  turn.main,
                                  &parts_.random,
                                  options_.of_execution(),
                                  std::move(*turn.history),
                                  turn.past_cleanup};
  turn.history.reset();
}

/// Runs those that are open, until one does not return or there is a hurry, and answers what is to
/// be settled now; the others are left in `rest`.
OrchestrationDispatcher::Turns OrchestrationDispatcher::run_some(Turns& rest, TimePoint now) {
  CodeBatch::Pieces pieces;
  for (const Turn* turn : rest) {
    if (turn->to_run()) pieces.push_back(turn->code);
  }
  const TurnRunner::Ran ran = runner_.run(std::move(pieces));
  Turns round;
  std::size_t through = 0;
  for (Turn* turn : rest) {
    if (turn->to_run()) {
      if (through == ran.through) break;
      ++through;
      if (ran.stuck && through == ran.through) {
        end_stuck(*turn, now, ran);
      } else {
        end_code(*turn, now);
      }
    }
    round.push_back(turn);
  }
  rest.erase(rest.begin(), rest.begin() + static_cast<Turns::difference_type>(round.size()));
  return round;
}

/// One that a stop has left had no time of its own that is over: somebody else may run it at once.
void OrchestrationDispatcher::end_stuck(Turn& turn, TimePoint now, const TurnRunner::Ran& ran) {
  if (ran.at_deadline) return turn.again();
  if (turn.of_ended()) return turn.fail_queries(failure_by(BlockedReason::kDeadlock, *ran.stuck));
  block_by_code(turn, now, BlockedReason::kDeadlock, *ran.stuck);
}

void OrchestrationDispatcher::end_code(Turn& turn, TimePoint now) {
  turn.frames = std::move(turn.code->frames);
  turn.no_code = std::move(turn.code->no_code);
  replay::TurnResult result = std::move(turn.code->result);
  turn.code.reset();
  if (result.mismatch && turn.of_ended()) {
    return turn.fail_queries(
        failure_by(BlockedReason::kNondeterminism, to_string(*result.mismatch)));
  }
  if (result.mismatch) {
    return block_by_code(turn, now, BlockedReason::kNondeterminism, to_string(*result.mismatch));
  }
  turn.result = std::move(result);
}

void OrchestrationDispatcher::commit(const Turns& turns) {
  AckOrchestrationItems ack;
  Turns acked;
  for (Turn* turn : turns) {
    if (!turn->open()) continue;
    acked.push_back(turn);
    ack.entries.push_back(
        to_commit(turn->item, turn->code_version(), std::move(turn->result->decisions), options_));
  }
  if (acked.empty()) return;
  const auto answer = parts_.provider.ack_orchestration_items(std::move(ack));
  for (std::size_t i = 0; i < acked.size(); ++i) {
    react(*acked[i], answer.ok() ? (*answer)[i] : Result<TurnCommitted>(answer.error()));
  }
}

void OrchestrationDispatcher::react(Turn& turn, const Result<TurnCommitted>& answer) {
  if (answer.ok()) {
    parts_.attempts.fire(answer->touched, kCallGivenUp);
    succeed(turn, turn.frames ? turn.frames->last_event() : turn.item.last_event);
    turn.to_check = turn.cached && turn.frames->has_code() && replay_check_.picks();
    if (!turn.to_check && !turn.of_ended()) keep_frames(turn);
    return;
  }
  const Error& error = answer.error();
  switch (reaction(error.code)) {
    case Reaction::kRereadAndRedo:
      return turn.again();
    case Reaction::kDropWork:
    case Reaction::kGiveUp:
      return turn.frames.reset();
    case Reaction::kLookThenDecide:
      return look_whether_committed(turn, error);
    case Reaction::kRetryLater:
    case Reaction::kFixInput:
    case Reaction::kIsolate:
      return turn.block(options_.backoff.after(turn.item.deferrals + 1),
                        blocked_by(error.code),
                        "the turn could not be committed: " + error.message);
  }
}

void OrchestrationDispatcher::keep_frames(Turn& turn) {
  const FrameKey key = turn.key_after();
  parts_.frames.keep(key, std::move(turn.frames));
}

/// Behind all that others wait for: locks are back, the frames of the other turns too.
void OrchestrationDispatcher::check_replays(std::vector<Turn>& turns) {
  std::vector<CachedTurn> picked;
  for (Turn& turn : turns) {
    if (turn.to_check) picked.push_back({turn.item, *turn.main, turn.frames});
  }
  if (!runner_.hurried()) replay_check_.run(picked);
  for (Turn& turn : turns) {
    if (turn.to_check && turn.frames) keep_frames(turn);
  }
}

void OrchestrationDispatcher::look_whether_committed(Turn& turn, const Error& error) {
  turn.frames.reset();
  const auto info = parts_.provider.get_execution(turn.item.id, turn.item.execution);
  if (info.ok() && info->last_turn == turn.item.lock) return succeed(turn, info->last_event);
  // Giving back is fenced by the lock, so it does nothing when the turn is in the store after all.
  turn.block(options_.backoff.after(turn.item.deferrals + 1),
             BlockedReason::kStoreError,
             "it is not known whether the turn was committed: " + error.message);
}

void OrchestrationDispatcher::succeed(Turn& turn, EventId last_event) {
  write_log(turn.item, *turn.result);
  const auto events = static_cast<std::size_t>(last_event.value);
  const auto before = static_cast<std::size_t>(turn.item.last_event.value);
  if (before < options_.history_warning_events && events >= options_.history_warning_events) {
    log::warning("the history of a run gets long: it should continue as new",
                 {{"instance", turn.item.id}, {"orchestration", turn.item.name}, {"events", events}});
  }
  if (turn.no_code.empty()) return;
  log::warning(
      "a canceled run is ended without its code",
      {{"instance", turn.item.id}, {"orchestration", turn.item.name}, {"why", turn.no_code}});
}

void OrchestrationDispatcher::give_back(const Turns& turns) {
  AbandonOrchestrationItems abandon;
  for (Turn* turn : turns) {
    if (!turn->given_back) continue;
    if (turn->given_back->blocked != BlockedReason::kNone) {
      // Once for each time in a row: it is shown beside the status of the run all the same. What is
      // not charged was said when its thread did not return.
      const bool again =
          turn->item.deferrals != 0 || turn->given_back->charge == Charge::kNothing;
      log::write(again ? log::Level::kDebug : log::Level::kWarning,
                 "a run is blocked",
                 {{"instance", turn->item.id},
                  {"reason", to_string(turn->given_back->blocked)},
                  {"detail", turn->given_back->blocked_detail}});
    }
    abandon.entries.push_back(std::move(*turn->given_back));
  }
  if (abandon.entries.empty()) return;
  const auto answer = parts_.provider.abandon_orchestration_items(std::move(abandon));
  // Locks that could not be given back end by expiry.
  if (!answer.ok()) {
    log::warning("locks could not be given back", {{"error", answer.error().message}});
  }
}

}  // namespace perdure::runtime
