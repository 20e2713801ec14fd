#include "tests/sqlite/crash/operations.h"

namespace perdure::sqlite::crash {

namespace {

using Kind = WorkOutcome::Kind;

SettledWork settled(const WorkItem& item, Kind kind) {
  SettledWork work;
  work.id = item.id;
  work.lock = item.lock;
  work.outcome.kind = kind;
  if (kind == Kind::kCompleted) work.outcome.result = "\"done\"";
  if (kind == Kind::kFailed || kind == Kind::kRetryAt) {
    work.outcome.failure = {.type = "boom", .message = "it broke"};
    work.outcome.delay = 10s;
  }
  work.heartbeat_details = "\"half\"";
  return work;
}

/// Two rows are claimed; the first of them ends as told.
std::function<Run(World&)> ack_one(Kind kind) {
  return [kind](World& world) {
    world.start_with_work("a", {{}, {}});
    AckWorkItems batch;
    batch.entries.push_back(settled(world.claim(2)[0], kind));
    return request(std::move(batch));
  };
}

Run ack_two_works(World& world) {
  world.start_with_work("a", {{}, {}});
  const auto items = world.claim(2);
  AckWorkItems batch;
  batch.entries.push_back(settled(items[0], Kind::kCompleted));
  batch.entries.push_back(settled(items[1], Kind::kFailed));
  return request(std::move(batch));
}

Run ack_marked(World& world) {
  world.start_with_work("a", {{.on_cancel = OnCancel::kWait}});
  const auto items = world.claim(1);
  CancelOrchestration cancel;
  cancel.id = "a";
  expect_ok(status_of(world.store().cancel_orchestration(cancel)), "cancel");
  AckWorkItems batch;
  batch.entries.push_back(settled(items[0], Kind::kCanceled));
  return request(std::move(batch));
}

Run fetch_ready_due_and_lost(World& world) {
  world.start_with_work("a", {{}, {.priority = 1}, {.visible_at = world.now() + 10s}});
  world.claim(1);
  world.clock().advance(kLock + 1s);
  return request(world.claim_request(3));
}

Run renew(World& world) {
  world.start_with_work("a", {{}, {}});
  RenewWorkItemLocks renewal;
  renewal.epoch = world.epoch();
  for (const WorkItem& item : world.claim(2)) {
    renewal.claims.push_back({.id = item.id, .lock = item.lock, .heartbeat_details = "\"half\""});
  }
  renewal.lock_for = 2 * kLock;
  return request(std::move(renewal));
}

/// One row lapsed, one due, one overdue, one marked and lapsed.
Run sweep(World& world) {
  world.start_with_work("canceled", {{.on_cancel = OnCancel::kWait}});
  world.claim(1);
  CancelOrchestration cancel;
  cancel.id = "canceled";
  expect_ok(status_of(world.store().cancel_orchestration(cancel)), "cancel");
  world.start_with_work(
      "a",
      {{},
       {.visible_at = world.now() + 10s},
       {.visible_at = world.now() + 10s, .timeouts = {.schedule_to_start = 20s}}});
  world.claim(1);
  world.clock().advance(kLock + 1s);
  return request(SweepWorkItems{});
}

Run register_process(World& world) {
  world.start("a");
  return request(RegisterProcess{.host = "new",
                                 .pid = 2,
                                 .queues = {kQueue},
                                 .declared = {{kFlow, kVersion, {"add", "subtract"}}}});
}

Run register_that_wakes(World& world) {
  world.start_keeping("a", "pay");
  world.start_keeping("b", "pay");
  return request(RegisterProcess{
      .host = "new", .pid = 2, .queues = {kQueue}, .declared = {{kFlow, kVersion, {"pay"}}}});
}

Run release_that_wakes(World& world) {
  world.register_declaring("pay");
  const Epoch older = world.register_declaring("other");
  world.start_keeping("a", "pay");
  Turn woken(world.lock("a"));
  world.commit(woken);
  return request(ReleaseProcess{.epoch = older});
}

Run heartbeat(World& world) {
  return request(HeartbeatProcess{.epoch = world.epoch()});
}

/// An answer, a query and an early event that nobody waits for any more.
Run sweep_expired_requests(World& world) {
  StartOrchestration start = start_request("a");
  start.request_id = "request";
  expect_ok(status_of(world.store().start_orchestration(start)), "start");
  world.ask("a", RequestKind::kQuery, "asked");
  RaiseEvent early;
  early.id = "other";
  early.name = "go";
  early.buffer_for = 1h;
  expect_ok(status_of(world.store().raise_event(early)), "raise");
  world.clock().advance(25h);
  return request(SweepWorkItems{});
}

/// The first registration holds a lock, claims, a marked claim and a query to an ended run; a
/// second one is there too.
Epoch hold_everything(World& world) {
  world.start_with_work("a", {{}, {}, {.on_cancel = OnCancel::kAbandon}});
  world.claim(3);
  world.start_with_work("canceled", {{.on_cancel = OnCancel::kWait}});
  world.claim(1);
  CancelOrchestration cancel;
  cancel.id = "canceled";
  expect_ok(status_of(world.store().cancel_orchestration(cancel)), "cancel");
  world.start("b");
  world.lock("b");
  world.start("ended");
  world.end("ended");
  world.ask("ended", RequestKind::kQuery, "asked");
  world.lock("ended");
  return world.register_another();
}

Run take_over(World& world) {
  return request(TakeOverProcess{.epoch = hold_everything(world)});
}

Run release(World& world) {
  return request(ReleaseProcess{.epoch = hold_everything(world)});
}

}  // namespace

std::vector<Operation> operations_of_workers() {
  return {
      {.name = "fetch_work", .prepare = fetch_ready_due_and_lost},
      {.name = "ack_work_completed", .prepare = ack_one(Kind::kCompleted)},
      {.name = "ack_work_failed", .prepare = ack_one(Kind::kFailed)},
      {.name = "ack_work_to_be_retried", .prepare = ack_one(Kind::kRetryAt)},
      {.name = "ack_work_given_back", .prepare = ack_one(Kind::kGivenBack)},
      {.name = "ack_marked_work_canceled", .prepare = ack_marked},
      {.name = "ack_two_works", .prepare = ack_two_works, .entries = 2},
      {.name = "renew_work", .prepare = renew},
      {.name = "sweep_work", .prepare = sweep},
      {.name = "sweep_expired_requests", .prepare = sweep_expired_requests},
      {.name = "register_process", .prepare = register_process, .repeatable = false},
      {.name = "register_process_that_wakes",
       .prepare = register_that_wakes,
       .repeatable = false},
      {.name = "release_process_that_wakes", .prepare = release_that_wakes},
      {.name = "heartbeat_process", .prepare = heartbeat, .repeatable = false},
      {.name = "take_over_process", .prepare = take_over},
      {.name = "release_process", .prepare = release},
  };
}

}  // namespace perdure::sqlite::crash
