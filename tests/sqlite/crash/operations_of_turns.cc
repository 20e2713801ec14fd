#include "tests/sqlite/crash/operations.h"

#include "model/handled.h"

namespace perdure::sqlite::crash {

namespace {

Run ack(const std::vector<Turn>& turns) {
  AckOrchestrationItems batch;
  for (const Turn& turn : turns) batch.entries.push_back(turn.commit);
  return request(std::move(batch));
}

Run fetch_ready_and_lost(World& world) {
  world.start("lost");
  world.lock("lost");
  world.clock().advance(kLock + 1s);
  world.start("ready");
  return request(world.fetch_request(4));
}

Run ack_plain(World& world) {
  world.start("a");
  Turn turn(world.lock("a"));
  turn.event(EventKind::kSideEffectRecorded, {}, "7");
  turn.timer(world.now() + 1h);
  turn.commit.custom_status = "\"half\"";
  return ack({turn});
}

Run ack_with_commands(World& world) {
  world.start_waiting("other");
  world.start("a");
  Turn turn(world.lock("a"));
  turn.work();
  turn.work({.visible_at = world.now() + 1min});
  turn.timer(world.now() + 1h);
  turn.child("c");
  turn.commit.raised.push_back({.id = "other", .name = "go", .payload = "1"});
  return ack({turn});
}

Run ack_with_detached_start(World& world) {
  world.start("a");
  Turn turn(world.lock("a"));
  turn.detached("free");
  turn.timer(world.now() + 1h);
  return ack({turn});
}

Run ack_that_drops(World& world) {
  world.start("a");
  Turn first(world.lock("a"));
  const EventId running = first.work();
  const EventId queued = first.work();
  const EventId timer = first.timer(world.now() + 1h);
  const EventId child = first.child("c");
  world.commit(first);
  world.claim(1);
  Turn waits(world.lock("c"));
  waits.timer(world.now() + 1h);
  world.commit(waits);
  world.raise("a", "enough");
  Turn turn(world.lock("a"));
  turn.event(EventKind::kActivityDropped, running);
  turn.event(EventKind::kActivityDropped, queued);
  turn.event(EventKind::kTimerDropped, timer);
  turn.event(EventKind::kChildDropped, child);
  turn.timer(world.now() + 2h);
  turn.commit.canceled_work = {running, queued};
  turn.commit.canceled_timers = {timer};
  turn.commit.canceled_children = {child};
  return ack({turn});
}

Run ack_child_completed(World& world) {
  world.start("a");
  Turn starts(world.lock("a"));
  starts.child("c");
  world.commit(starts);
  Turn turn(world.lock("c"));
  turn.end(ExecutionStatus::kCompleted);
  return ack({turn});
}

Run ack_failed_with_everything_open(World& world) {
  world.start("a");
  Turn starts(world.lock("a"));
  starts.child("c");
  world.commit(starts);
  Turn first(world.lock("c"));
  first.work();
  first.work({.on_cancel = OnCancel::kWait});
  first.work();
  first.timer(world.now() + 1h);
  world.commit(first);
  world.claim(2);
  world.raise("c", "grow");
  world.start_waiting_child("c", "g");
  world.raise("c", "fail");
  Turn turn(world.lock("c"));
  turn.end(ExecutionStatus::kFailed);
  return ack({turn});
}

/// A run with work under way that a client has asked to end; answers the turn that ends it.
Turn end_canceled(World& world, const std::function<void()>& ask) {
  world.start("a");
  Turn first(world.lock("a"));
  first.work();
  first.work({.on_cancel = OnCancel::kWait});
  first.timer(world.now() + 1h);
  world.commit(first);
  world.claim(2);
  ask();
  Turn turn(world.lock("a"));
  turn.event(EventKind::kCancelRequested);
  turn.end(ExecutionStatus::kCanceled);
  return turn;
}

Run ack_canceled(World& world) {
  return ack({end_canceled(world, [&] {
    CancelOrchestration cancel;
    cancel.id = "a";
    cancel.reason = "because";
    value_of(world.store().cancel_orchestration(cancel), "cancel");
  })});
}

Run ack_that_begins_a_stored_start(World& world) {
  return ack({end_canceled(world, [&] {
    StartOrchestration start = start_request("a", "2");
    start.on_conflict = OnConflict::kCancelExisting;
    const auto answer = value_of(world.store().start_orchestration(start), "start");
    if (answer.outcome != StartOutcome::kPending) throw std::runtime_error("nothing is stored");
  })});
}

Run ack_continued_as_new(World& world) {
  world.start("a");
  Turn first(world.lock("a"));
  first.work();
  first.timer(world.now() + 1h);
  world.commit(first);
  world.claim(1);
  world.raise("a", "again");
  Turn turn(world.lock("a"));
  world.raise("a", "later");
  turn.end(ExecutionStatus::kContinuedAsNew);
  HistoryEvent carried;
  carried.kind = EventKind::kEventReceived;
  carried.name = "again";
  turn.commit.next->carried.push_back(carried);
  return ack({turn});
}

Reply reply_to(RequestKind kind, const std::string& id, RequestStage stage) {
  return {.kind = kind, .request = id, .stage = stage, .payload = "2", .failure = {}};
}

Run ack_with_replies(World& world) {
  world.start("a");
  world.ask("a", RequestKind::kUpdate, "done");
  world.ask("a", RequestKind::kUpdate, "running");
  world.ask("a", RequestKind::kQuery, "asked");
  Turn turn(world.lock("a"));
  turn.timer(world.now() + 1h);
  turn.commit.replies = {reply_to(RequestKind::kUpdate, "done", RequestStage::kAnswered),
                         reply_to(RequestKind::kUpdate, "running", RequestStage::kAccepted),
                         reply_to(RequestKind::kQuery, "asked", RequestStage::kAnswered)};
  turn.commit.drain_at = world.now() + 1min;
  return ack({turn});
}

Run ack_continued_with_requests(World& world) {
  world.start("a");
  world.ask("a", RequestKind::kUpdate, "running");
  Turn first(world.lock("a"));
  first.timer(world.now() + 1h);
  first.commit.replies = {reply_to(RequestKind::kUpdate, "running", RequestStage::kAccepted)};
  world.commit(first);
  world.ask("a", RequestKind::kUpdate, "kept");
  world.ask("a", RequestKind::kUpdate, "held");
  Turn turn(world.lock("a"));
  world.ask("a", RequestKind::kUpdate, "later");
  turn.end(ExecutionStatus::kContinuedAsNew);
  turn.commit.kept_messages = {turn.item.messages.at(0).id};
  return ack({turn});
}

/// It keeps a signal that another process declares, takes one that it kept, and one stays.
Run ack_with_kept_signals(World& world) {
  world.register_declaring("new");
  const EventId old = world.start_keeping("a", "old");
  world.raise("a", "go");
  Turn turn(world.lock("a"));
  turn.signal("new", {}, kKeptFlag);
  turn.signal("old", old, 0);
  return ack({turn});
}

Run ack_continued_with_kept_signals(World& world) {
  world.start_keeping("a", "pay");
  world.raise("a", "again");
  Turn turn(world.lock("a"));
  turn.end(ExecutionStatus::kContinuedAsNew);
  HistoryEvent carried;
  carried.kind = EventKind::kSignalReceived;
  carried.name = "pay";
  turn.commit.next->carried.push_back(carried);
  return ack({turn});
}

/// Leaves a query behind to be answered by a replay.
void end_with_a_query(World& world) {
  world.start("a");
  world.ask("a", RequestKind::kQuery, "asked");
  world.end("a");
}

Run fetch_queries_of_an_ended_run(World& world) {
  end_with_a_query(world);
  world.ask("a", RequestKind::kQuery, "another");
  return request(world.fetch_request(4));
}

Run fetch_an_unreadable_query(World& world) {
  end_with_a_query(world);
  world.ask("a", RequestKind::kQuery, "bad");
  world.run_sql("UPDATE requests SET name = x'ff00' WHERE request_id LIKE 'query/%/bad'");
  return request(world.fetch_request(4));
}

Run give_back_queries_of_an_ended_run(World& world) {
  end_with_a_query(world);
  const OrchestrationItem item = world.lock("a");
  AbandonOrchestrationItems batch;
  batch.entries.push_back({.instance = item.instance, .lock = item.lock, .delay = 10s});
  return request(std::move(batch));
}

Run ack_replies_of_an_ended_run(World& world) {
  end_with_a_query(world);
  Turn turn(world.lock("a"));
  turn.commit.replies = {reply_to(RequestKind::kQuery, "asked", RequestStage::kAnswered)};
  return ack({turn});
}

Run ack_two_turns(World& world) {
  world.start("a");
  world.start("b");
  Turn a(world.lock("a"));
  a.work();
  Turn b(world.lock("b"));
  b.end(ExecutionStatus::kCompleted);
  return ack({a, b});
}

Run abandon_two(World& world) {
  world.start("a");
  world.start("b");
  const OrchestrationItem a = world.lock("a");
  const OrchestrationItem b = world.lock("b");
  AbandonOrchestrationItems batch;
  batch.entries.push_back({.instance = a.instance,
                           .lock = a.lock,
                           .delay = 10s,
                           .charge = Charge::kDeferral,
                           .blocked = BlockedReason::kNondeterminism,
                           .blocked_detail = "other code"});
  batch.entries.push_back({.instance = b.instance, .lock = b.lock, .charge = Charge::kLoss});
  return request(std::move(batch));
}

Run renew_two(World& world) {
  world.start("a");
  world.start("b");
  RenewOrchestrationItemLocks batch;
  for (const char* id : {"a", "b"}) {
    const OrchestrationItem item = world.lock(id);
    batch.entries.push_back({.instance = item.instance, .lock = item.lock});
  }
  batch.lock_for = 2 * kLock;
  return request(std::move(batch));
}

}  // namespace

std::vector<Operation> operations_of_turns() {
  return {
      {.name = "fetch_instances", .prepare = fetch_ready_and_lost},
      {.name = "ack_plain_turn", .prepare = ack_plain},
      {.name = "ack_turn_with_commands", .prepare = ack_with_commands},
      {.name = "ack_turn_with_a_detached_start", .prepare = ack_with_detached_start},
      {.name = "ack_turn_that_drops_calls", .prepare = ack_that_drops},
      {.name = "ack_child_completed", .prepare = ack_child_completed},
      {.name = "ack_failed_with_open_calls", .prepare = ack_failed_with_everything_open},
      {.name = "ack_canceled", .prepare = ack_canceled},
      {.name = "ack_that_begins_a_stored_start", .prepare = ack_that_begins_a_stored_start},
      {.name = "ack_continued_as_new", .prepare = ack_continued_as_new},
      {.name = "ack_turn_with_replies", .prepare = ack_with_replies},
      {.name = "ack_continued_as_new_with_requests", .prepare = ack_continued_with_requests},
      {.name = "fetch_queries_of_an_ended_run", .prepare = fetch_queries_of_an_ended_run},
      {.name = "fetch_an_unreadable_query", .prepare = fetch_an_unreadable_query},
      {.name = "give_back_queries_of_an_ended_run", .prepare = give_back_queries_of_an_ended_run},
      {.name = "ack_turn_with_kept_signals", .prepare = ack_with_kept_signals},
      {.name = "ack_continued_as_new_with_kept_signals",
       .prepare = ack_continued_with_kept_signals},
      {.name = "ack_replies_of_an_ended_run", .prepare = ack_replies_of_an_ended_run},
      {.name = "ack_two_turns", .prepare = ack_two_turns, .entries = 2},
      {.name = "abandon_instances", .prepare = abandon_two, .entries = 2},
      {.name = "renew_instance_locks", .prepare = renew_two, .entries = 2},
  };
}

std::vector<Operation> operations() {
  std::vector<Operation> all = operations_of_turns();
  for (auto more : {operations_of_workers(), operations_of_clients(), operations_of_management()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace perdure::sqlite::crash
