#include "tests/sqlite/soak/flow.h"

#include <algorithm>

#include "tests/sqlite/crash/calls.h"

namespace perdure::sqlite::soak {

namespace {

using namespace std::chrono_literals;
using crash::Calls;
using crash::Turn;

constexpr int kRounds = 3;

std::string name_of(What what, std::int64_t number) {
  return std::to_string(static_cast<int>(what)) + "-" + std::to_string(number);
}

/// How many events of a kind the execution has, with those of the turn.
std::ptrdiff_t count(const std::vector<HistoryEvent>& history, const Turn& turn, EventKind kind) {
  return std::ranges::count(history, kind, &HistoryEvent::kind) +
         std::ranges::count(turn.commit.events, kind, &HistoryEvent::kind);
}

void step(Turn& turn, const std::vector<HistoryEvent>& history, TimePoint now) {
  const auto calls = count(history, turn, EventKind::kActivityScheduled);
  if (calls == 2 * kRounds) return turn.end(ExecutionStatus::kCompleted);
  if (calls == 0) turn.timer(now + 5ms);
  turn.work();
  turn.work();
}

}  // namespace

std::string run_id(char flavour, std::int64_t number) {
  return std::string(1, flavour) + "-" + std::to_string(number);
}

char flavour_of(const std::string& id) {
  return id.front();
}

std::string trace(What what, std::int64_t number) {
  return '"' + name_of(what, number) + '"';
}

std::string request_id(What what, std::int64_t number) {
  return name_of(what, number);
}

std::string turn_trace(const LockToken& lock) {
  return '"' + to_string(lock) + '"';
}

Turn next_turn(const OrchestrationItem& item,
               const std::vector<HistoryEvent>& history,
               TimePoint now) {
  Turn turn(item);
  turn.event(EventKind::kSideEffectRecorded, {}, turn_trace(item.lock));
  Calls calls(history);
  crash::take_in_messages(turn, calls);
  if (item.cancel_requested_at) {
    turn.end(ExecutionStatus::kCanceled);
    return turn;
  }
  if (!calls.open.empty()) return turn;
  switch (flavour_of(item.id)) {
    case kSteps:
      step(turn, history, now);
      break;
    case kGather:
      if (count(history, turn, EventKind::kEventReceived) == kGathered) {
        turn.end(ExecutionStatus::kCompleted);
      }
      break;
    case kParent:
      if (count(history, turn, EventKind::kChildScheduled) > 0) {
        turn.end(ExecutionStatus::kCompleted);
      } else {
        turn.child(run_id(kSteps, 0) + "-of-" + item.id);
      }
      break;
    default:
      turn.work();
      turn.work({.on_cancel = OnCancel::kWait});
      turn.timer(now + 1h);
  }
  return turn;
}

}  // namespace perdure::sqlite::soak
