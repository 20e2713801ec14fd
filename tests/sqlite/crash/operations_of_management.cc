#include "tests/sqlite/crash/operations.h"

namespace perdure::sqlite::crash {

namespace {

/// A live run with claimed work, a locked child, another child that waits, and open requests.
void grow_locked_tree(World& world) {
  world.start("a");
  Turn first(world.lock("a"));
  first.work();
  first.work();
  first.timer(world.now() + 1h);
  world.commit(first);
  world.claim(1);
  for (const char* child : {"1", "2"}) {
    world.raise("a", "grow");
    world.start_waiting_child("a", child);
  }
  world.raise("1", "go");
  world.lock("1");
  for (const RequestKind kind : {RequestKind::kUpdate, RequestKind::kQuery}) {
    world.ask("a", kind, "open");
  }
}

/// With an empty request id its answer is not kept.
std::function<Run(World&)> delete_tree(const std::string& request_id) {
  return [request_id](World& world) {
    grow_locked_tree(world);
    world.start_waiting("other");
    return request(DeleteInstance{.id = "a", .force = true, .request_id = request_id});
  };
}

std::function<Run(World&)> delete_ended(const std::string& request_id) {
  return [request_id](World& world) {
    for (const char* id : {"a", "b"}) {
      world.start(id);
      world.end(id);
    }
    world.start_waiting("live");
    DeleteInstances bulk;
    bulk.completed_before = world.now() + 1s;
    bulk.request_id = request_id;
    return request(std::move(bulk));
  };
}

std::function<Run(World&)> prune(const std::string& request_id) {
  return [request_id](World& world) {
    world.start("a");
    Turn first(world.lock("a"));
    first.work({.on_cancel = OnCancel::kAbandon});
    world.commit(first);
    world.claim(1);
    world.raise("a", "again");
    for (int life = 0; life < 3; ++life) world.end("a", ExecutionStatus::kContinuedAsNew);
    return request(PruneExecutions{.id = "a", .keep_last = 2, .request_id = request_id});
  };
}

Run prune_with_a_query(World& world) {
  for (const char* query : {"gone", "kept"}) {
    world.start("a");
    world.end("a");
    world.ask("a", RequestKind::kQuery, query);
  }
  return request(PruneExecutions{.id = "a", .keep_last = 1});
}

Run carry_on_removals(World& world) {
  grow_locked_tree(world);
  const DeleteInstance deletion{.id = "a", .force = true, .limit = 1};
  if (!value_of(world.store().delete_instance(deletion), "delete").removing) {
    throw std::runtime_error("nothing is left to remove");
  }
  return request(CarryOnRemovals{});
}

Run trim_changes(World& world) {
  for (const char* id : {"a", "b"}) {
    world.start(id);
    world.end(id);
  }
  return request(TrimChanges{.keep = 1});
}

}  // namespace

std::vector<Operation> operations_of_management() {
  return {
      {.name = "delete_instance", .prepare = delete_tree("")},
      {.name = "delete_instance_with_a_request_id", .prepare = delete_tree("request")},
      {.name = "delete_instances", .prepare = delete_ended("")},
      {.name = "delete_instances_with_a_request_id", .prepare = delete_ended("request")},
      {.name = "prune_executions", .prepare = prune("")},
      {.name = "prune_executions_with_a_request_id", .prepare = prune("request")},
      {.name = "prune_with_a_query", .prepare = prune_with_a_query},
      {.name = "carry_on_removals", .prepare = carry_on_removals},
      {.name = "trim_changes", .prepare = trim_changes},
  };
}

}  // namespace perdure::sqlite::crash
