#include "tests/conformance/conformance.h"

#include <stdexcept>
#include <utility>

namespace perdure::conformance {

namespace {

/// Fixture words that cannot go on end the test by exception, which gtest reports as a failure.
template <class T>
T expect_value(Result<T> result, const char* what) {
  if (!result.ok()) throw std::runtime_error(std::string(what) + ": " + result.error().message);
  return std::move(result).value();
}

template <class T>
Result<T> only_entry(Result<Batch<T>> batch) {
  if (!batch.ok()) return batch.error();
  if (batch->size() != 1) throw std::runtime_error("a batch of one must have one answer");
  return std::move((*batch)[0]);
}

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

std::vector<StoreParam> shared_stores() {
  std::vector<StoreParam> shared;
  for (StoreParam& store : stores()) {
    if (store.shared) shared.push_back(std::move(store));
  }
  return shared;
}

void PrintTo(const StoreParam& store, std::ostream* out) {
  *out << store.name;
}

std::string store_name(const ::testing::TestParamInfo<StoreParam>& info) {
  return info.param.name;
}

void Conformance::SetUp() {
  store_ = make_store();
  ASSERT_NE(store_, nullptr);
  mint_ = register_another();
}

void Conformance::TearDown() {
  mint_.reset();
  store_.reset();
}

std::unique_ptr<TokenMint> Conformance::register_another() {
  RegisterProcess request{.host = "test", .pid = 1, .queues = {kQueue}};
  return std::make_unique<TokenMint>(expect_value(store().register_process(request), "register"));
}

StartOrchestration Conformance::start_request(const std::string& id) {
  StartOrchestration request;
  request.id = id;
  request.name = kFlow;
  request.version = kVersion;
  request.queue = kQueue;
  request.input = "null";
  return request;
}

OrchestrationStarted Conformance::start(const std::string& id) {
  return start(start_request(id));
}

OrchestrationStarted Conformance::start(StartOrchestration request) {
  return expect_value(store().start_orchestration(std::move(request)), "start");
}

FetchOrchestrationItems Conformance::fetch_request(std::size_t count) {
  FetchOrchestrationItems request;
  request.epoch = epoch();
  request.queue = kQueue;
  request.served = {{kFlow, kVersion}};
  request.tokens = mint().next(count);
  request.lock_for = kLock;
  return request;
}

std::vector<OrchestrationItem> Conformance::lock_up_to(std::size_t count) {
  return expect_value(store().fetch_orchestration_items(fetch_request(count)), "fetch").items;
}

std::optional<OrchestrationItem> Conformance::try_lock() {
  auto items = lock_up_to(1);
  if (items.empty()) return std::nullopt;
  return std::move(items[0]);
}

OrchestrationItem Conformance::lock() {
  auto item = try_lock();
  if (!item) throw std::runtime_error("no instance is ready");
  return std::move(*item);
}

OrchestrationItem Conformance::lock(const std::string& id) {
  OrchestrationItem item = lock();
  if (item.id != id) throw std::runtime_error("locked " + item.id + " instead of " + id);
  return item;
}

TurnCommit Conformance::turn(const OrchestrationItem& item) {
  TurnCommit commit;
  commit.instance = item.instance;
  commit.execution = item.execution;
  commit.lock = item.lock;
  commit.status = item.status;
  return commit;
}

HistoryEvent Conformance::next_event(const OrchestrationItem& item,
                                     const TurnCommit& commit,
                                     EventKind kind) {
  HistoryEvent event;
  event.id = EventId{item.last_event.value + static_cast<std::int64_t>(commit.events.size()) + 1};
  event.kind = kind;
  return event;
}

EventId Conformance::schedule(TurnCommit& commit, const OrchestrationItem& item, NewWork work) {
  HistoryEvent event = next_event(item, commit, EventKind::kActivityScheduled);
  if (work.queue.empty()) work.queue = kQueue;
  if (work.name.empty()) work.name = kTask;
  if (work.input.empty()) work.input = "null";
  work.event = event.id;
  event.name = work.name;
  event.payload = work.input;
  event.text = work.queue;
  const EventId id = event.id;
  commit.events.push_back(std::move(event));
  commit.work.push_back(std::move(work));
  return id;
}

EventId Conformance::schedule_timer(TurnCommit& commit,
                                    const OrchestrationItem& item,
                                    TimePoint due,
                                    bool shielded) {
  HistoryEvent event = next_event(item, commit, EventKind::kTimerCreated);
  event.number = to_micros(due);
  const EventId id = event.id;
  commit.events.push_back(std::move(event));
  commit.timers.push_back({.event = id, .due = due, .shielded = shielded});
  return id;
}

EventId Conformance::schedule_child(TurnCommit& commit,
                                    const OrchestrationItem& item,
                                    const std::string& id,
                                    ClosePolicy policy,
                                    bool shielded) {
  HistoryEvent event = next_event(item, commit, EventKind::kChildScheduled);
  event.name = kFlow;
  event.text = id;
  NewChild child;
  child.event = event.id;
  child.id = id;
  child.name = kFlow;
  child.version = kVersion;
  child.queue = kQueue;
  child.input = "null";
  child.close_policy = policy;
  child.shielded = shielded;
  commit.events.push_back(std::move(event));
  commit.children.push_back(std::move(child));
  return commit.children.back().event;
}

void Conformance::finish(TurnCommit& commit,
                         const OrchestrationItem& item,
                         ExecutionStatus status) {
  commit.events.push_back(next_event(item, commit, terminal_event(status)));
  commit.status = status;
  if (status == ExecutionStatus::kCompleted) commit.output = "\"output\"";
  if (status == ExecutionStatus::kFailed) commit.failure = {.type = "boom", .message = "it broke"};
  if (status == ExecutionStatus::kContinuedAsNew) commit.next = NextExecution{};
}

Result<TurnCommitted> Conformance::try_commit(TurnCommit commit) {
  AckOrchestrationItems request;
  request.entries.push_back(std::move(commit));
  return only_entry(store().ack_orchestration_items(std::move(request)));
}

TurnCommitted Conformance::commit(TurnCommit commit) {
  return expect_value(try_commit(std::move(commit)), "commit");
}

void Conformance::abandon(const OrchestrationItem& item,
                          Duration delay,
                          Charge charge,
                          BlockedReason blocked) {
  AbandonOrchestrationItems request;
  request.entries.push_back({.instance = item.instance,
                             .lock = item.lock,
                             .delay = delay,
                             .charge = charge,
                             .blocked = blocked,
                             .blocked_detail = {}});
  auto answer = only_entry(store().abandon_orchestration_items(std::move(request)));
  if (!answer.ok()) throw std::runtime_error("abandon: " + answer.error().message);
}

OrchestrationItem Conformance::start_with_work(const std::string& id, int count, NewWork like) {
  start(id);
  OrchestrationItem item = lock(id);
  TurnCommit commit = turn(item);
  for (int i = 0; i < count; ++i) {
    NewWork work = like;
    if (work.input.empty()) work.input = std::to_string(i);
    schedule(commit, item, std::move(work));
  }
  this->commit(std::move(commit));
  return item;
}

OrchestrationItem Conformance::start_and_run(const std::string& id) {
  return start_with_work(id, 0);
}

void Conformance::start_child_of(const std::string& parent,
                                 const std::string& child,
                                 ClosePolicy policy,
                                 bool shielded) {
  OrchestrationItem item = lock(parent);
  TurnCommit commit = turn(item);
  schedule_child(commit, item, child, policy, shielded);
  this->commit(std::move(commit));
  this->commit(turn(lock(child)));
}

TurnCommitted Conformance::end(const std::string& id, ExecutionStatus status) {
  OrchestrationItem item = lock(id);
  TurnCommit commit = turn(item);
  finish(commit, item, status);
  return this->commit(std::move(commit));
}

void Conformance::poke(const std::string& id) {
  if (raise(id, "poke") != EventDelivery::kDelivered) throw std::runtime_error("poke " + id);
}

FetchWorkItems Conformance::claim_request(std::size_t count) {
  FetchWorkItems request;
  request.epoch = epoch();
  request.queue = kQueue;
  request.names = {kTask};
  request.tokens = mint().next(count);
  request.lock_for = kLock;
  return request;
}

std::vector<WorkItem> Conformance::claim_up_to(std::size_t count) {
  return expect_value(store().fetch_work_items(claim_request(count)), "claim").items;
}

std::optional<WorkItem> Conformance::try_claim() {
  auto items = claim_up_to(1);
  if (items.empty()) return std::nullopt;
  return std::move(items[0]);
}

WorkItem Conformance::claim() {
  auto item = try_claim();
  if (!item) throw std::runtime_error("no work is ready");
  return std::move(*item);
}

SettledWork Conformance::settled(const WorkItem& item, WorkOutcome::Kind kind) {
  SettledWork work;
  work.id = item.id;
  work.lock = item.lock;
  work.outcome.kind = kind;
  return work;
}

Status Conformance::try_settle(SettledWork work) {
  AckWorkItems request;
  request.entries.push_back(std::move(work));
  return only_entry(store().ack_work_items(std::move(request)));
}

Status Conformance::try_complete(const WorkItem& item, const std::string& result) {
  SettledWork work = settled(item, WorkOutcome::Kind::kCompleted);
  work.outcome.result = result;
  return try_settle(std::move(work));
}

Status Conformance::try_fail(const WorkItem& item, const std::string& type) {
  SettledWork work = settled(item, WorkOutcome::Kind::kFailed);
  work.outcome.failure = {.type = type, .message = "it broke"};
  return try_settle(std::move(work));
}

void Conformance::complete(const WorkItem& item, const std::string& result) {
  auto answer = try_complete(item, result);
  if (!answer.ok()) throw std::runtime_error("complete: " + answer.error().message);
}

ClaimState Conformance::renew(const WorkItem& item, Duration lock_for) {
  RenewWorkItemLocks request;
  request.epoch = item.lock.epoch;
  request.claims.push_back({.id = item.id, .lock = item.lock, .heartbeat_details = {}});
  request.lock_for = lock_for;
  return expect_value(store().renew_work_item_locks(std::move(request)), "renew").at(0);
}

ClaimState Conformance::check(const WorkItem& item) {
  return expect_value(store().check_work_items(
                          {{.id = item.id, .lock = item.lock, .heartbeat_details = {}}}),
                      "check")
      .at(0);
}

CancelAnswer Conformance::cancel(const std::string& id, const std::string& reason) {
  CancelOrchestration request;
  request.id = id;
  request.reason = reason;
  return expect_value(store().cancel_orchestration(std::move(request)), "cancel");
}

CancelAnswer Conformance::terminate(const std::string& id, const std::string& reason) {
  TerminateOrchestration request;
  request.id = id;
  request.reason = reason;
  return expect_value(store().terminate_orchestration(std::move(request)), "terminate");
}

EventDelivery Conformance::raise(const std::string& id,
                                 const std::string& name,
                                 const std::string& payload) {
  RaiseEvent request;
  request.id = id;
  request.name = name;
  request.payload = payload;
  return expect_value(store().raise_event(std::move(request)), "raise");
}

InstanceInfo Conformance::info(const std::string& id) {
  return expect_value(store().get_instance(id), "get_instance");
}

std::vector<HistoryEvent> Conformance::history(const std::string& id) {
  const InstanceInfo instance = info(id);
  return history(instance.key, instance.current.execution);
}

std::vector<HistoryEvent> Conformance::history(InstanceKey key, ExecutionNo execution) {
  HistoryQuery query;
  query.instance = key;
  query.execution = execution;
  auto pages = expect_value(store().read_history({query}), "read_history");
  return expect_value(std::move(pages.at(0)), "history page").events;
}

std::vector<EventKind> Conformance::kinds(const std::vector<HistoryEvent>& events) {
  std::vector<EventKind> result;
  for (const HistoryEvent& event : events) result.push_back(event.kind);
  return result;
}

std::vector<MessageKind> Conformance::kinds(const std::vector<Message>& messages) {
  std::vector<MessageKind> result;
  for (const Message& message : messages) result.push_back(message.kind);
  return result;
}

}  // namespace perdure::conformance
