#include "tests/sqlite/crash/world.h"

#include <utility>

#include "model/handled.h"
#include "provider/sqlite/sqlite_provider.h"

namespace perdure::sqlite::crash {

namespace {

EventKind terminal_event(ExecutionStatus status) {
  switch (status) {
    case ExecutionStatus::kCompleted:
      return EventKind::kCompleted;
    case ExecutionStatus::kFailed:
      return EventKind::kFailed;
    case ExecutionStatus::kCanceled:
      return EventKind::kCanceled;
    case ExecutionStatus::kContinuedAsNew:
      return EventKind::kContinuedAsNew;
    default:
      throw std::runtime_error("not an end that a turn can commit");
  }
}

}  // namespace

void expect_ok(const Status& status, const char* what) {
  if (!status.ok()) throw std::runtime_error(std::string(what) + ": " + status.error().message);
}

std::unique_ptr<Provider> open_store(const std::string& path,
                                     Clock& clock,
                                     Durability durability,
                                     Driver driver) {
  Options options;
  options.path = path;
  options.durability = durability;
  options.clock = &clock;
  options.writer_thread = driver == Driver::kThread;
  return value_of(open(options), "open");
}

StartOrchestration start_request(const std::string& id, const std::string& input) {
  StartOrchestration request;
  request.id = id;
  request.name = kFlow;
  request.version = kVersion;
  request.queue = kQueue;
  request.input = input;
  return request;
}

Turn::Turn(const OrchestrationItem& locked) : item(locked) {
  commit.instance = item.instance;
  commit.execution = item.execution;
  commit.lock = item.lock;
  commit.status = item.status;
}

EventId Turn::event(EventKind kind, EventId source, const std::string& payload) {
  HistoryEvent event;
  event.id = EventId{item.last_event.value + static_cast<std::int64_t>(commit.events.size()) + 1};
  event.kind = kind;
  event.source = source;
  event.payload = payload;
  commit.events.push_back(event);
  return event.id;
}

EventId Turn::signal(const std::string& name, EventId source, std::int64_t number) {
  const EventId id = event(EventKind::kSignalReceived, source);
  commit.events.back().name = name;
  commit.events.back().number = number;
  return id;
}

EventId Turn::work(NewWork like) {
  like.event = event(EventKind::kActivityScheduled);
  like.queue = kQueue;
  like.name = kTask;
  like.input = "1";
  commit.work.push_back(like);
  return like.event;
}

EventId Turn::timer(TimePoint due) {
  const EventId id = event(EventKind::kTimerCreated);
  commit.timers.push_back({.event = id, .due = due});
  return id;
}

EventId Turn::child(const std::string& id, ClosePolicy policy) {
  NewChild child;
  child.event = event(EventKind::kChildScheduled);
  child.id = id;
  child.name = kFlow;
  child.version = kVersion;
  child.queue = kQueue;
  child.input = "null";
  child.close_policy = policy;
  commit.children.push_back(child);
  return child.event;
}

EventId Turn::detached(const std::string& id) {
  const EventId started = child(id);
  commit.events.back().kind = EventKind::kDetachedStarted;
  commit.children.back().detached = true;
  return started;
}

void Turn::end(ExecutionStatus status) {
  event(terminal_event(status));
  commit.status = status;
  if (status == ExecutionStatus::kCompleted) commit.output = "\"output\"";
  if (status == ExecutionStatus::kFailed) commit.failure = {.type = "boom", .message = "it broke"};
  if (status == ExecutionStatus::kContinuedAsNew) commit.next = NextExecution{};
}

World::World(const std::string& path, Durability durability, Driver driver)
    : store_(open_store(path, clock_, durability, driver)) {
  register_process();
}

void World::register_process() {
  // Not the real pid: rows must not depend on the process that writes them.
  const RegisterProcess request{.host = "test",
                                .pid = 1,
                                .queues = {kQueue},
                                .declared = {{kFlow, kVersion, {"add"}}}};
  mint_ = std::make_unique<TokenMint>(value_of(store_->register_process(request), "register"));
}

Epoch World::register_another() {
  const Epoch former = epoch();
  register_process();
  return former;
}

Epoch World::register_declaring(const std::string& signal) {
  RegisterProcess request{.host = "test", .pid = 2, .queues = {kQueue}};
  request.declared.push_back({kFlow, kVersion, {signal}});
  return value_of(store_->register_process(request), "register");
}

void World::start(const std::string& id) {
  value_of(store_->start_orchestration(start_request(id)), "start");
}

OrchestrationItem World::lock(const std::string& id) {
  const auto fetched = value_of(store_->fetch_orchestration_items(fetch_request(8)), "fetch");
  for (const OrchestrationItem& item : fetched.items) {
    if (is_terminal(item.status)) {
      locked_.try_emplace(item.id, item);
    } else {
      locked_.insert_or_assign(item.id, item);
    }
  }
  const auto found = locked_.find(id);
  if (found == locked_.end()) throw std::runtime_error("not ready: " + id);
  OrchestrationItem item = found->second;
  locked_.erase(found);
  return item;
}

void World::commit(const Turn& turn) {
  AckOrchestrationItems request;
  request.entries.push_back(turn.commit);
  expect_ok(status_of(store_->ack_orchestration_items(std::move(request))), "commit");
}

void World::start_waiting(const std::string& id) {
  start(id);
  Turn turn(lock(id));
  turn.timer(now() + 1h);
  commit(turn);
}

void World::start_waiting_child(const std::string& parent, const std::string& child) {
  Turn starts(lock(parent));
  starts.child(child);
  commit(starts);
  Turn waits(lock(child));
  waits.timer(now() + 1h);
  commit(waits);
}

void World::raise(const std::string& id, const std::string& name) {
  RaiseEvent request;
  request.id = id;
  request.name = name;
  request.payload = "null";
  if (value_of(store_->raise_event(request), "raise") != EventDelivery::kDelivered) {
    throw std::runtime_error("not delivered to " + id);
  }
}

void World::ask(const std::string& id, RequestKind kind, const std::string& request) {
  MakeRequest made;
  made.kind = kind;
  made.id = id;
  made.request = request;
  made.name = "add";
  made.payload = "1";
  value_of(store_->make_request(made), "make_request");
}

void World::end(const std::string& id, ExecutionStatus status) {
  Turn turn(lock(id));
  turn.end(status);
  commit(turn);
}

void World::run_sql(const std::string& sql) {
  expect_ok(dynamic_cast<SqliteProvider&>(*store_).run_sql(sql), "run_sql");
}

EventId World::start_keeping(const std::string& id, const std::string& signal) {
  start(id);
  Turn turn(lock(id));
  turn.timer(now() + 1h);
  const EventId kept = turn.signal(signal, {}, kKeptFlag);
  commit(turn);
  return kept;
}

void World::start_with_work(const std::string& id, const std::vector<NewWork>& work) {
  start(id);
  Turn turn(lock(id));
  for (const NewWork& one : work) turn.work(one);
  commit(turn);
}

std::vector<WorkItem> World::claim(std::size_t count) {
  auto fetched = value_of(store_->fetch_work_items(claim_request(count)), "claim");
  if (fetched.items.size() != count) throw std::runtime_error("not so much work is ready");
  return std::move(fetched.items);
}

FetchOrchestrationItems World::fetch_request(std::size_t count) {
  FetchOrchestrationItems request;
  request.epoch = epoch();
  request.queue = kQueue;
  request.served = {{kFlow, kVersion}};
  request.tokens = mint_->next(count);
  request.lock_for = kLock;
  return request;
}

FetchWorkItems World::claim_request(std::size_t count) {
  FetchWorkItems request;
  request.epoch = epoch();
  request.queue = kQueue;
  request.names = {kTask};
  request.tokens = mint_->next(count);
  request.lock_for = kLock;
  return request;
}

}  // namespace perdure::sqlite::crash
