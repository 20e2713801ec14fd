#include "tests/sqlite/crash/operations.h"

namespace perdure::sqlite::crash {

namespace {

Run start_with_early_events(World& world) {
  for (const char* name : {"one", "two"}) {
    RaiseEvent early;
    early.id = "a";
    early.name = name;
    early.payload = "null";
    early.buffer_for = 1h;
    expect_ok(status_of(world.store().raise_event(early)), "raise");
  }
  StartOrchestration start = start_request("a");
  start.run_timeout = 2h;
  start.request_id = "request";
  return request(std::move(start));
}

Run start_on_an_ended_id(World& world) {
  world.start("a");
  world.end("a");
  StartOrchestration start = start_request("a", "2");
  start.request_id = "request";
  return request(std::move(start));
}

/// A run that has every kind of work open, a timer and a child that waits.
void grow_tree(World& world) {
  world.start("a");
  Turn first(world.lock("a"));
  first.work();
  first.work({.on_cancel = OnCancel::kWait});
  first.work({.on_cancel = OnCancel::kAbandon});
  first.work({.priority = -1});
  first.work({.priority = -1, .shielded = true});
  first.timer(world.now() + 1h);
  world.commit(first);
  world.claim(3);
  world.raise("a", "grow");
  world.start_waiting_child("a", "c");
}

Run start_replacing(World& world) {
  grow_tree(world);
  StartOrchestration start = start_request("a");
  start.on_conflict = OnConflict::kCancelExisting;
  start.request_id = "request";
  return request(std::move(start));
}

Run raise(World& world) {
  world.start_waiting("a");
  RaiseEvent event;
  event.id = "a";
  event.name = "go";
  event.payload = "1";
  event.request_id = "request";
  return request(std::move(event));
}

Run signal(World& world) {
  world.start_waiting("a");
  RaiseEvent told;
  told.id = "a";
  told.name = "add";
  told.payload = "1";
  told.as_signal = true;
  told.request_id = "request";
  return request(std::move(told));
}

Run raise_early(World& world) {
  world.start("other");
  RaiseEvent event;
  event.id = "a";
  event.name = "go";
  event.payload = "1";
  event.buffer_for = 1h;
  event.request_id = "request";
  return request(std::move(event));
}

Run start_with_an_update(World& world) {
  world.start("other");
  StartOrchestration start = start_request("a");
  start.on_conflict = OnConflict::kUseExisting;
  start.with = StartMessage{RequestKind::kUpdate, "add", "1", "u"};
  start.request_id = "request";
  return request(std::move(start));
}

MakeRequest request_to(const std::string& id, RequestKind kind) {
  MakeRequest made;
  made.kind = kind;
  made.id = id;
  made.request = "r";
  made.name = "add";
  made.payload = "1";
  return made;
}

Run make_update(World& world) {
  world.start_waiting("a");
  return request(request_to("a", RequestKind::kUpdate));
}

Run query_an_ended_run(World& world) {
  world.start("a");
  world.end("a");
  return request(request_to("a", RequestKind::kQuery));
}

Run terminate_with_requests(World& world) {
  world.start_waiting("a");
  for (const RequestKind kind : {RequestKind::kUpdate, RequestKind::kQuery}) {
    world.ask("a", kind, "r");
  }
  TerminateOrchestration terminate;
  terminate.id = "a";
  terminate.request_id = "request";
  return request(std::move(terminate));
}

template <class Request>
Request take_down() {
  Request request;
  request.id = "a";
  request.reason = "because";
  request.request_id = "request";
  return request;
}

Run cancel(World& world) {
  grow_tree(world);
  return request(take_down<CancelOrchestration>());
}

Run cancel_before_first_turn(World& world) {
  world.start("a");
  world.lock("a");
  return request(take_down<CancelOrchestration>());
}

Run terminate(World& world) {
  grow_tree(world);
  return request(take_down<TerminateOrchestration>());
}

Run carry_on_cascades(World& world) {
  world.start("a");
  for (const char* child : {"1", "2", "3"}) {
    world.start_waiting_child("a", child);
    world.raise("a", "grow");
  }
  auto cancel = take_down<CancelOrchestration>();
  cancel.max_descendants = 1;
  const auto answer = value_of(world.store().cancel_orchestration(cancel), "cancel");
  if (!answer.cascading) throw std::runtime_error("no cascade is left to carry on");
  return request(CarryOnCascades{});
}

}  // namespace

std::vector<Operation> operations_of_clients() {
  return {
      {.name = "start", .prepare = start_with_early_events},
      {.name = "start_on_an_ended_id", .prepare = start_on_an_ended_id},
      {.name = "start_replacing_a_live_run", .prepare = start_replacing},
      {.name = "raise_event", .prepare = raise},
      {.name = "signal", .prepare = signal},
      {.name = "raise_early_event", .prepare = raise_early},
      {.name = "start_with_an_update", .prepare = start_with_an_update},
      {.name = "make_update", .prepare = make_update},
      {.name = "query_an_ended_run", .prepare = query_an_ended_run},
      {.name = "terminate_with_open_requests", .prepare = terminate_with_requests},
      {.name = "cancel", .prepare = cancel},
      {.name = "cancel_before_the_first_turn", .prepare = cancel_before_first_turn},
      {.name = "terminate", .prepare = terminate},
      {.name = "carry_on_cascades", .prepare = carry_on_cascades},
  };
}

}  // namespace perdure::sqlite::crash
