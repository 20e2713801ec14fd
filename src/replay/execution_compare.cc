#include <algorithm>
#include <string>
#include <utility>

#include "replay/execution.h"

namespace perdure::replay {

namespace {

constexpr const char* kKeptStateHint =
    "The frames that were kept and a replay of what they decided do not go on alike: the code uses "
    "something besides its input and the context, or it was changed.";

std::string describe(const detail::Op& op) {
  switch (op.kind) {
    case detail::OpKind::kActivity:
      return "a wait for activity '" + op.name + "'";
    case detail::OpKind::kTimer:
      return "a wait for a timer";
    case detail::OpKind::kEvent:
      return "a wait for event '" + op.name + "'";
    case detail::OpKind::kChild:
      return "a wait for child '" + op.name + "'";
    case detail::OpKind::kCondition:
      return "a wait for a condition";
    case detail::OpKind::kTask:
      break;
  }
  return "a wait for a task";
}

}  // namespace

std::size_t Execution::open_conditions() const {
  const auto& conditions = rare_.peek().messages.peek().conditions;
  return static_cast<std::size_t>(std::count_if(
      conditions.begin(), conditions.end(), [](const auto& op) { return !op->resolved(); }));
}

std::vector<EventId> Execution::kept_signals() const {
  std::vector<EventId> kept;
  for (const auto& [event, signal] : rare_.peek().messages.peek().kept) kept.push_back(event);
  return kept;
}

std::optional<Mismatch> Execution::difference_to(const Execution& replayed) const {
  if (replayed.mismatch()) return replayed.mismatch();
  const auto differs = [](EventId at, std::string expected, std::string actual) {
    return Mismatch{at, std::move(expected), std::move(actual), kKeptStateHint};
  };
  if (last_event() != replayed.last_event()) {
    return differs(std::min(last_event(), replayed.last_event()),
                   "event " + std::to_string(last_event().value) + " as the last",
                   "event " + std::to_string(replayed.last_event().value) + " as the last");
  }
  if (phase_ != replayed.phase_) {
    return differs(last_event(),
                   has_ended() ? "the end of the run" : "a run that goes on",
                   replayed.has_ended() ? "the end of the run" : "another part of the run");
  }
  if (has_ended()) return std::nullopt;
  if (handler_tasks() != replayed.handler_tasks()) {
    return differs(last_event(),
                   std::to_string(handler_tasks()) + " tasks of message handlers",
                   std::to_string(replayed.handler_tasks()));
  }
  if (open_conditions() != replayed.open_conditions()) {
    return differs(last_event(),
                   std::to_string(open_conditions()) + " waits for conditions",
                   std::to_string(replayed.open_conditions()));
  }
  if (kept_signals() != replayed.kept_signals()) {
    return differs(last_event(),
                   std::to_string(kept_signals().size()) + " kept signals",
                   std::to_string(replayed.kept_signals().size()) + ", or others");
  }
  auto mine = ops_.begin();
  auto other = replayed.ops_.begin();
  while (mine != ops_.end() && other != replayed.ops_.end() && mine->first == other->first &&
         mine->second->kind == other->second->kind && mine->second->name == other->second->name) {
    ++mine;
    ++other;
  }
  const bool any_mine = mine != ops_.end();
  const bool any_other = other != replayed.ops_.end();
  if (!any_mine && !any_other) return std::nullopt;
  const std::int64_t at = any_mine && any_other ? std::min(mine->first, other->first)
                          : any_mine            ? mine->first
                                                : other->first;
  return differs(EventId{at},
                 any_mine && mine->first == at ? describe(*mine->second) : "no wait",
                 any_other && other->first == at ? describe(*other->second) : "no wait");
}

}  // namespace perdure::replay
