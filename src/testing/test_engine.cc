#include "testing/test_engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/served.h"
#include "client/throw_error.h"
#include "provider/sqlite/options.h"

namespace perdure::testing::detail {

namespace {

/// Time moves at least so much, should the store name a moment that has passed.
constexpr Duration kLeastMove = std::chrono::milliseconds(1);

std::unique_ptr<Provider> open_in_memory(Clock& clock) {
  sqlite::Options options;
  options.path = ":memory:";
  options.writer_thread = false;
  options.clock = &clock;
  return or_throw(sqlite::open(options));
}

class Inside {
 public:
  explicit Inside(int& count) : count_(count) { ++count_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { --count_; }

 private:
  int& count_;
};

runtime::DispatcherOptions dispatcher_options(const std::string& queue,
                                              const TestOptions& options) {
  runtime::DispatcherOptions dispatcher;
  dispatcher.queue = queue;
  dispatcher.cleanup_timeout = options.cleanup_timeout;
  dispatcher.handler_drain_timeout = options.handler_drain_timeout;
  // A blocked run must not make a long advance slow.
  dispatcher.backoff = {std::chrono::seconds(1), std::chrono::hours(1)};
  dispatcher.max_payload_bytes = options.max_payload_bytes;
  dispatcher.replay_check_fraction = options.replay_check_fraction;
  if (options.strict_arguments) dispatcher.arguments = replay::ArgumentCheck::kStrict;
  return dispatcher;
}

runtime::WorkerOptions worker_options(const std::string& queue, const TestOptions& options) {
  runtime::WorkerOptions worker;
  worker.queue = queue;
  worker.max_payload_bytes = options.max_payload_bytes;
  return worker;
}

}  // namespace

TestEngine::TestEngine(const Registry& registry, const TestOptions& options)
    : options_(options),
      store_(open_in_memory(clock_)),
      faulty_(std::make_unique<FaultyProvider>(*store_)) {
  check(dispatcher_options("default", options_));
  check(worker_options("default", options_));
  const Epoch epoch = or_throw(faulty_->register_process({.host = "test"}));
  tokens_ = std::make_unique<TokenMint>(epoch);
  housekeeper_ = std::make_unique<runtime::Housekeeper>(*faulty_, attempts_);
  deploy(registry);
}

void TestEngine::deploy(const Registry& registry) {
  if (handlers_running_ > 0) {
    throw std::logic_error("perdure: deploy inside a handler: its own code would go away");
  }
  frames_.clear();
  queues_.clear();
  deployed_ = std::make_shared<perdure::detail::HandlerTable>(*registry.table());
  table_ = std::make_unique<perdure::detail::HandlerTable>();
  for (const perdure::detail::OrchestrationHandler* each : deployed_->orchestrations()) {
    table_->add_orchestration(*each);
  }
  for (const std::string& name : deployed_->activity_names()) add_activity(name);
  for (const auto& [name, handler] : fakes_) {
    if (table_->find_activity(name) == nullptr) add_activity(name);
  }
  declare_signals();
}

/// By a registration of its own: that of the tokens outlives the code.
void TestEngine::declare_signals() {
  const auto before = declares_;
  declares_ = or_throw(faulty_->register_process(
      {.host = "test", .declared = runtime::declared_by(*table_)}));
  if (before) or_throw(faulty_->release_process({.epoch = *before}));
}

void TestEngine::add_activity(const std::string& name) {
  table_->add_activity(name,
                       [this, name](perdure::detail::AttemptApi& api, const std::string& input) {
                         return run_activity(name, api, input);
                       });
}

void TestEngine::replace(const std::string& name, perdure::detail::ActivityHandler handler) {
  fakes_[name] = std::move(handler);
  if (table_->find_activity(name) == nullptr) add_activity(name);
}

void TestEngine::fail_attempts(const std::string& name, int attempts, const Failure& failure) {
  std::deque<Failure>& line = failures_[name];
  line.insert(line.end(), static_cast<std::size_t>(std::max(attempts, 0)), failure);
  if (table_->find_activity(name) == nullptr) add_activity(name);
}

std::string TestEngine::run_activity(const std::string& name,
                                     perdure::detail::AttemptApi& api,
                                     const std::string& input) {
  std::deque<Failure>& line = failures_[name];
  if (!line.empty()) {
    const Failure failure = std::move(line.front());
    line.pop_front();
    throw Failed(failure);
  }
  const Inside inside(handlers_running_);
  const auto fake = fakes_.find(name);
  if (fake != fakes_.end()) {
    // A copy: the handler may replace itself.
    const perdure::detail::ActivityHandler handler = fake->second;
    return handler(api, input);
  }
  const perdure::detail::ActivityHandler* real = deployed_->find_activity(name);
  if (real == nullptr) throw Failed("not_registered", "activity '" + name + "' has no handler");
  return (*real)(api, input);
}

bool TestEngine::serves(const std::string& name, const std::string& version) const {
  return table_->find_orchestration(name, version) != nullptr;
}

void TestEngine::serve_queues() {
  for (const std::string& queue : faulty_->queues()) {
    Served& served = queues_[queue];
    if (served.dispatcher) continue;
    served.dispatcher = std::make_unique<runtime::OrchestrationDispatcher>(
        runtime::OrchestrationDispatcher::Parts{
            *faulty_, *tokens_, *table_, frames_, attempts_, random_},
        dispatcher_options(queue, options_));
    served.worker = std::make_unique<runtime::ActivityWorker>(
        runtime::ActivityWorker::Parts{*faulty_, *tokens_, *table_, attempts_, sleeper_, random_},
        worker_options(queue, options_));
  }
}

bool TestEngine::take(const runtime::Step& step) {
  if (step.trouble) throw_error(*step.trouble);
  if (step.next_at && (!next_at_ || *step.next_at < *next_at_)) next_at_ = step.next_at;
  return step.worked;
}

/// One step of the first part that has something to do: turns before activities, so that all that
/// is started together is there together.
bool TestEngine::step() {
  next_at_.reset();
  serve_queues();
  for (auto& [queue, served] : queues_) {
    if (take(served.dispatcher->poll_once())) return true;
  }
  for (auto& [queue, served] : queues_) {
    if (take(served.worker->poll_once())) return true;
  }
  return take(housekeeper_->poll_once());
}

void TestEngine::run_until_idle() {
  TimePoint now = clock_.now();
  for (std::size_t steps = 0; step(); ++steps) {
    // A handler that sleeps moves the time.
    if (now != clock_.now()) {
      now = clock_.now();
      steps = 0;
    }
    if (steps < options_.max_steps) continue;
    throw std::runtime_error("perdure: still busy after " + std::to_string(steps) +
                             " steps without time passing: does a run continue as new, or an "
                             "activity fail and retry, for ever without a delay?");
  }
}

void TestEngine::advance(Duration time) {
  if (time < Duration::zero()) throw InvalidArgument("advance: the time must not be negative");
  const TimePoint target = add(clock_.now(), time);
  for (;;) {
    run_until_idle();
    const TimePoint now = clock_.now();
    if (now >= target) return;
    TimePoint stop = target;
    if (next_at_) stop = std::min(target, std::max(*next_at_, now + kLeastMove));
    clock_.advance(stop - now);
  }
}

}  // namespace perdure::testing::detail
