#include "cli/bench/turn_shape.h"

namespace perdure::bench {

namespace {

constexpr const char* kResult = R"({"receipt":"R-20931","cents":1999,"currency":"EUR"})";
constexpr const char* kInput = R"({"order":"A-1001","cents":1999,"attempt":1})";

TurnCommit begin_turn(const OrchestrationItem& item) {
  TurnCommit turn;
  turn.instance = item.instance;
  turn.execution = item.execution;
  turn.lock = item.lock;
  return turn;
}

/// What the message of the item brought, and then something of the turn's own.
HistoryEvent add_event(const OrchestrationItem& item, const TurnCommit& turn, EventKind kind) {
  HistoryEvent event;
  event.id = EventId{item.last_event.value + 1 + static_cast<std::int64_t>(turn.events.size())};
  event.kind = kind;
  return event;
}

void add_answer(const OrchestrationItem& item, TurnCommit& turn) {
  HistoryEvent answer = add_event(item, turn, EventKind::kActivityCompleted);
  // The first turn has no call that could be answered; it records as much.
  const bool first = item.messages.empty() || item.messages[0].kind == MessageKind::kStart;
  if (first) answer.kind = EventKind::kSideEffectRecorded;
  if (!first) answer.source = item.messages[0].source;
  answer.payload = kResult;
  turn.events.push_back(std::move(answer));
}

}  // namespace

TurnCommit make_turn(const OrchestrationItem& item) {
  TurnCommit turn = begin_turn(item);
  turn.events.reserve(kEventsPerTurn);
  add_answer(item, turn);
  HistoryEvent effect = add_event(item, turn, EventKind::kSideEffectRecorded);
  effect.name = "uuid";
  effect.payload = R"("5f0c6c1e-4c3e-4a52-9a53-0d9f6d3c2b11")";
  turn.events.push_back(std::move(effect));
  HistoryEvent call = add_event(item, turn, EventKind::kActivityScheduled);
  call.name = kActivity;
  call.payload = kInput;
  call.text = kQueue;
  call.number = 20931;
  NewWork work;
  work.event = call.id;
  work.queue = kQueue;
  work.name = kActivity;
  work.input = kInput;
  turn.events.push_back(std::move(call));
  turn.work.push_back(std::move(work));
  return turn;
}

TurnCommit make_last_turn(const OrchestrationItem& item) {
  TurnCommit turn = begin_turn(item);
  add_answer(item, turn);
  HistoryEvent end = add_event(item, turn, EventKind::kCompleted);
  end.payload = kResult;
  turn.events.push_back(std::move(end));
  turn.status = ExecutionStatus::kCompleted;
  turn.output = kResult;
  return turn;
}

}  // namespace perdure::bench
