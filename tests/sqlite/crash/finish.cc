#include "tests/sqlite/crash/finish.h"

#include "tests/sqlite/crash/calls.h"

namespace perdure::sqlite::crash {

namespace {

/// The reply to each update and query among the messages.
std::vector<Reply> answers_to(const std::vector<Message>& messages) {
  std::vector<Reply> replies;
  for (const Message& message : messages) {
    const bool is_update = message.kind == MessageKind::kUpdate;
    if (!is_update && message.kind != MessageKind::kQuery) continue;
    replies.push_back({.kind = is_update ? RequestKind::kUpdate : RequestKind::kQuery,
                       .request = message.text,
                       .stage = RequestStage::kAnswered,
                       .payload = "2",
                       .failure = {}});
  }
  return replies;
}

/// More than any store of the tests needs.
constexpr int kRounds = 100;

class Finisher {
 public:
  Finisher(Provider& store, VirtualClock& clock) : store_(store), clock_(clock), mint_(enroll()) {}

  void run() {
    int idle = 0;
    for (int round = 0; round < kRounds; ++round) {
      value_of(store_.sweep_work_items(), "sweep");
      value_of(store_.carry_on_cascades(), "carry on");
      value_of(store_.carry_on_removals(), "remove");
      const bool worked = complete_work();
      idle = take_turns() || worked ? 0 : idle + 1;
      // Nothing of the tests is due later than in a few hours.
      if (idle > 4) return;
      if (idle > 0) clock_.advance(1h);
    }
    throw std::runtime_error("the store does not come to rest");
  }

 private:
  Epoch enroll() {
    const RegisterProcess request{.host = "finisher", .pid = 3, .queues = {kQueue}};
    return value_of(store_.register_process(request), "register");
  }

  bool complete_work() {
    FetchWorkItems fetch;
    fetch.epoch = mint_.epoch();
    fetch.queue = kQueue;
    fetch.names = {kTask};
    fetch.tokens = mint_.next(16);
    const auto fetched = value_of(store_.fetch_work_items(std::move(fetch)), "claim");
    if (!fetched.problems.empty()) throw std::runtime_error(fetched.problems[0].message);
    AckWorkItems batch;
    for (const WorkItem& item : fetched.items) {
      batch.entries.push_back({.id = item.id, .lock = item.lock});
      batch.entries.back().outcome.result = "\"finished\"";
    }
    expect_ok(status_of(store_.ack_work_items(std::move(batch))), "complete");
    return !fetched.items.empty();
  }

  bool take_turns() {
    FetchOrchestrationItems fetch;
    fetch.epoch = mint_.epoch();
    fetch.queue = kQueue;
    fetch.served = {{kFlow, kVersion}};
    fetch.tokens = mint_.next(16);
    const auto fetched = value_of(store_.fetch_orchestration_items(std::move(fetch)), "fetch");
    for (const OrchestrationItem& item : fetched.items) take_turn(item);
    return !fetched.items.empty();
  }

  void take_turn(const OrchestrationItem& item) {
    if (item.problem) throw std::runtime_error(item.problem->message);
    Turn turn(item);
    turn.commit.replies = answers_to(item.messages);
    // Of one that has ended the replies are all that there is to write.
    if (!is_terminal(item.status)) decide(turn);
    AckOrchestrationItems batch;
    batch.entries.push_back(std::move(turn.commit));
    // The end of a parent, earlier in this round, may have taken a child's lock away.
    const Status committed = status_of(store_.ack_orchestration_items(std::move(batch)));
    if (committed.ok() || committed.code() == ErrorCode::kLockLost) return;
    if (committed.code() != ErrorCode::kConflict) expect_ok(committed, "commit");
    AbandonOrchestrationItems abandoned;
    abandoned.entries.push_back({.instance = item.instance, .lock = item.lock});
    expect_ok(status_of(store_.abandon_orchestration_items(std::move(abandoned))), "abandon");
  }

  void decide(Turn& turn) {
    Calls calls(history(turn.item));
    take_in_messages(turn, calls);
    if (turn.item.cancel_requested_at) {
      turn.end(ExecutionStatus::kCanceled);
    } else if (calls.open.empty()) {
      turn.end(ExecutionStatus::kCompleted);
    }
  }

  std::vector<HistoryEvent> history(const OrchestrationItem& item) {
    const HistoryQuery query{.instance = item.instance, .execution = item.execution};
    auto pages = value_of(store_.read_history({query}), "history");
    return value_of(std::move(pages.at(0)), "history").events;
  }

  Provider& store_;
  VirtualClock& clock_;
  TokenMint mint_;
};

}  // namespace

void finish_everything(Provider& store, VirtualClock& clock) {
  Finisher(store, clock).run();
}

}  // namespace perdure::sqlite::crash
