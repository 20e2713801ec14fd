#include <utility>

#include <perdure/testing.h>

#include "client/checked_reason.h"
#include "client/run_values.h"
#include "client/start_request.h"
#include "client/throw_error.h"
#include "model/status.h"
#include "provider/stop_reasons.h"
#include "replayer/history_json.h"
#include "replayer/recorded_history.h"
#include "runtime/histories.h"
#include "testing/test_engine.h"
#include "testing/waits.h"

namespace perdure::testing {

namespace {

std::vector<HistoryEvent> read(Provider& provider,
                               const InstanceInfo& run,
                               const ExecutionInfo& execution) {
  constexpr std::size_t kPage = 10'000;
  return or_throw(runtime::read_histories(
                      provider, {{run.key, execution.execution, execution.last_event}}, kPage)
                      .front());
}

replayer::RecordedHistory recorded(Provider& provider,
                                   std::string_view id,
                                   std::int64_t execution) {
  const InstanceInfo run = or_throw(provider.get_instance(std::string(id)));
  const ExecutionInfo wanted =
      execution == 0 ? run.current
                     : or_throw(provider.get_execution(run.id, ExecutionNo{execution}));
  return replayer::recorded_history(run, wanted, read(provider, run, wanted));
}

[[noreturn]] void throw_still_runs(detail::TestEngine& engine, const InstanceInfo& run) {
  std::string text =
      "run '" + run.id + "' has not ended: " + std::string(to_string(run.current.status));
  if (!engine.serves(run.name, run.version)) {
    text += ", and orchestration '" + run.name + "' is not registered" +
            (run.version.empty() ? "" : " with version " + run.version);
  } else if (run.current.blocked != BlockedReason::kNone) {
    text += ", blocked (" + std::string(to_string(run.current.blocked)) +
            "): " + run.current.blocked_detail;
  } else {
    text += ", waiting for " + describe_waits(read(engine.provider(), run, run.current)) +
            "; advance the time, raise the event, or fake the activity";
  }
  throw Conflict(text);
}

}  // namespace

namespace detail {

EndedRun end_of(TestEngine& engine, const std::string& id) {
  engine.run_until_idle();
  const InstanceInfo run = or_throw(engine.provider().get_instance(id));
  if (!is_terminal(run.current.status)) throw_still_runs(engine, run);
  const RunStatus end = or_throw(client::run_status(engine.provider(), run, run.current));
  return {end.status, run.current.output, end.failure, end.cancel_reason};
}

RunStatus status_of(TestEngine& engine, const std::string& id) {
  const InstanceInfo run = or_throw(engine.provider().get_instance(id));
  return or_throw(client::run_status(engine.provider(), run, run.current));
}

}  // namespace detail

TestRuntime::TestRuntime(const Registry& registry, const TestOptions& options)
    : max_payload_bytes_(options.max_payload_bytes),
      engine_(std::make_unique<detail::TestEngine>(registry, options)) {}

TestRuntime::~TestRuntime() = default;

void TestRuntime::start_text(std::string_view name,
                             std::string_view id,
                             std::string input,
                             const StartOptions& options) {
  StartOrchestration start = client::start_request(name, id, std::move(input), options);
  start.cleanup_timeout = engine_->options().cleanup_timeout;
  const OrchestrationStarted started =
      or_throw(engine_->provider().start_orchestration(std::move(start)));
  engine_->attempts().fire(started.touched, kRunReplaced);
}

EventDelivered TestRuntime::raise_text(std::string_view id,
                                       std::string_view name,
                                       std::string payload,
                                       Duration delay) {
  RaiseEvent raise;
  raise.id = std::string(id);
  raise.name = std::string(name);
  raise.payload = std::move(payload);
  raise.delay = delay;
  return client::event_delivered(or_throw(engine_->provider().raise_event(std::move(raise))));
}

CancelResult TestRuntime::cancel(std::string_view id, std::string_view reason) {
  CancelOrchestration cancel;
  cancel.id = std::string(id);
  cancel.reason = client::checked_reason(reason, engine_->options().max_payload_bytes);
  cancel.cleanup_timeout = engine_->options().cleanup_timeout;
  const CancelAnswer answer = or_throw(engine_->provider().cancel_orchestration(std::move(cancel)));
  engine_->attempts().fire(answer.touched, std::string(reason));
  return {answer.changed, answer.status};
}

CancelResult TestRuntime::terminate(std::string_view id, std::string_view reason) {
  TerminateOrchestration terminate;
  terminate.id = std::string(id);
  terminate.reason = client::checked_reason(reason, engine_->options().max_payload_bytes);
  const CancelAnswer answer =
      or_throw(engine_->provider().terminate_orchestration(std::move(terminate)));
  engine_->attempts().fire(answer.touched, std::string(reason));
  return {answer.changed, answer.status};
}

void TestRuntime::run_until_idle() {
  engine_->run_until_idle();
}

void TestRuntime::advance(Duration time) {
  engine_->advance(time);
}

TimePoint TestRuntime::now() const {
  return engine_->clock().now();
}

void TestRuntime::replace(std::string_view name, perdure::detail::ActivityHandler handler) {
  engine_->replace(std::string(name), std::move(handler));
}

void TestRuntime::fail_attempts(std::string_view name, int attempts, Failure failure) {
  engine_->fail_attempts(std::string(name), attempts, failure);
}

void TestRuntime::fail_next_commits(int commits, CommitFault fault) {
  engine_->faults().fail_next_commits(commits, fault);
}

void TestRuntime::lose_next_claims(int attempts) {
  engine_->faults().lose_next_claims(attempts);
}

void TestRuntime::evict_after_every_turn(bool evict) {
  engine_->frames().set_limits(evict ? runtime::FrameLimits{.count = 0} : runtime::FrameLimits{});
}

void TestRuntime::deploy(const Registry& registry) {
  engine_->deploy(registry);
}

RunStatus TestRuntime::status(std::string_view id) const {
  return detail::status_of(*engine_, std::string(id));
}

std::vector<RecordedEvent> TestRuntime::history(std::string_view id, std::int64_t execution) const {
  std::vector<RecordedEvent> events;
  for (HistoryEvent& event : recorded(engine_->provider(), id, execution).events) {
    events.push_back({event.id.value,
                      std::string(to_string(event.kind)),
                      event.source.value,
                      std::move(event.name),
                      std::move(event.payload),
                      std::move(event.text),
                      std::move(event.failure),
                      event.at});
  }
  return events;
}

std::string TestRuntime::history_json(std::string_view id, std::int64_t execution) const {
  return replayer::to_history_json(recorded(engine_->provider(), id, execution));
}

Queued TestRuntime::queued() const {
  Queued queued;
  const QueueDepths depths = or_throw(engine_->provider().queue_depths());
  for (const QueueDepth& queue : depths.queues) {
    queued.runs_ready += queue.instances_ready;
    queued.runs_later += queue.instances_delayed;
    for (const WorkDepth& work : queue.work) {
      queued.calls[work.name] += work.ready + work.delayed + work.claimed + work.held;
    }
  }
  return queued;
}

}  // namespace perdure::testing
