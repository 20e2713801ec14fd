#include "runtime/registration.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/failpoint.h"
#include "base/log.h"
#include "runtime/queues.h"

namespace perdure::runtime {

namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr std::size_t kLargestBatch = 64;
constexpr milliseconds kSweepPause{200};
constexpr milliseconds kReleaseTimeout = std::chrono::seconds(5);
constexpr const char* kShutsDown = "the worker shuts down";

milliseconds to_ms(Duration time) {
  return duration_cast<milliseconds>(time);
}

/// Each locks at least one instance at a time.
int dispatcher_threads(const WorkerSettings& worker) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::min(cores, worker.max_concurrent_orchestrations);
}

DispatcherOptions dispatcher_options(const RuntimeOptions& options,
                                     const WorkerSettings& worker,
                                     int threads) {
  DispatcherOptions dispatcher;
  dispatcher.queue = worker.queue;
  const int share = std::max(1, worker.max_concurrent_orchestrations / threads);
  dispatcher.batch = std::min(static_cast<std::size_t>(share), kLargestBatch);
  dispatcher.lock_timeout = options.orchestrator_lock_timeout;
  dispatcher.cleanup_timeout = options.cancel_cleanup_timeout;
  dispatcher.handler_drain_timeout = options.handler_drain_timeout;
  dispatcher.max_payload_bytes = options.max_payload_bytes;
  dispatcher.history_warning_events = options.history_warning_events;
  dispatcher.replay_check_fraction = options.replay_check_fraction;
  dispatcher.deadlock_timeout =
      worker.orchestration_deadlock_timeout.value_or(options.orchestration_deadlock_timeout);
  if (options.strict_arguments) dispatcher.arguments = replay::ArgumentCheck::kStrict;
  return dispatcher;
}

/// What the code of turns refers to, also when it does not return.
struct UsedByTurns {
  std::shared_ptr<const detail::HandlerTable> handlers;
  std::shared_ptr<Random> random;
};

WorkerOptions worker_options(const RuntimeOptions& options, const WorkerSettings& worker) {
  WorkerOptions result;
  result.queue = worker.queue;
  result.slots = static_cast<std::size_t>(worker.max_concurrent_activities);
  result.lock_timeout = options.worker_lock_timeout;
  result.max_losses = options.max_attempts;
  result.max_payload_bytes = options.max_payload_bytes;
  result.throttle = {options.default_heartbeat_throttle_interval,
                     options.max_heartbeat_throttle_interval};
  // A fifth of the time is left to note that they are gone.
  result.processes.grace = options.activity_cancellation_grace_period;
  result.processes.shutdown_grace = options.shutdown_force_timeout / 5 * 4;
  return result;
}

}  // namespace

Registration::Registration(Parts parts,
                           const RuntimeOptions& options,
                           Epoch epoch,
                           std::function<void()> on_lost)
    : parts_(std::move(parts)),
      options_(options),
      on_lost_(std::move(on_lost)),
      tokens_(epoch),
      suspects_([this] {
        for (const std::unique_ptr<Loop>& each : working_) each->nudge();
      }),
      settler_(std::make_shared<Settler>(Settler::Parts{parts_.provider, attempts_, suspects_})),
      frames_({options.max_cached_orchestrations, options.max_cache_bytes}),
      timer_(std::make_shared<AttemptTimer>(
          settler_, parts_.random, options.activity_cancellation_grace_period)),
      touched_(parts_.provider.claim_listeners(),
               [this](const std::vector<TouchedClaim>& claims, const std::string& reason) {
                 attempts_.fire(claims, reason);
               }),
      claims_(parts_.provider, attempts_),
      leases_(parts_.provider,
              attempts_,
              epoch,
              {options.worker_lock_timeout, options.worker_lock_renewal_buffer}),
      housekeeper_(parts_.provider, attempts_, options.max_attempts),
      turns_(parts_.provider, options.orchestrator_lock_timeout),
      life_({parts_.provider, epoch, [this] { return !attempts_.empty() || turns_.holds(); }},
            options.process_heartbeat_interval),
      watch_(parts_.provider,
             life_,
             {.interval = options.process_heartbeat_interval,
              .dead_after = options.worker_dead_after,
              .max_losses = options.max_attempts}) {
  // What the dead held is freed whole, before it is claimed lease by lease.
  if (const Step first = watch_.poll_once(steady_now(), true); first.trouble) {
    log::warning("dead processes could not be looked for yet", {{"error", first.trouble->message}});
  }
  try {
    std::vector<std::string> served;
    for (const WorkerSettings& worker : served_queues(options_)) {
      if (begin(worker)) served.push_back(worker.queue);
    }
    look_after();
    for (const std::string& queue : served) parts_.board->move_to(queue, WorkerStatus::kReady);
  } catch (...) {  // no more threads: those that run must not be left waiting
    abandon();
    throw;
  }
}

Registration::~Registration() {
  abandon();
}

void Registration::add_loop(Loops& loops, LoopOptions options, std::function<Step()> step) {
  loops.push_back(
      std::make_unique<Loop>(parts_.provider, std::move(options), std::move(step), on_lost_));
}

/// False: it is not to be served, as the hook of the program says by an exception.
bool Registration::begin(const WorkerSettings& worker) {
  try {
    parts_.board->move_to(worker.queue, WorkerStatus::kStarting);
  } catch (const std::exception& error) {
    parts_.board->fail(worker.queue, error.what());
    return false;
  } catch (...) {
    parts_.board->fail(worker.queue, "an exception that is no std::exception");
    return false;
  }
  serve(worker);
  return true;
}

void Registration::serve(const WorkerSettings& worker) {
  const auto note_trouble = [board = parts_.board, queue = worker.queue](const Error& trouble) {
    board->note_trouble(queue, trouble.message);
  };
  const milliseconds poll = to_ms(options_.store_poll_interval);
  const int threads = dispatcher_threads(worker);
  const auto used =
      std::make_shared<const UsedByTurns>(UsedByTurns{parts_.handlers, parts_.random});
  for (int i = 0; i < threads; ++i) {
    dispatchers_.push_back(std::make_unique<OrchestrationDispatcher>(
        OrchestrationDispatcher::Parts{parts_.provider,
                                       tokens_,
                                       *parts_.handlers,
                                       frames_,
                                       attempts_,
                                       *parts_.random,
                                       {used,
                                        parts_.quarantine,
                                        parts_.on_stuck,
                                        worker.queue,
                                        parts_.deadline}},
        dispatcher_options(options_, worker, threads)));
    OrchestrationDispatcher& dispatcher = *dispatchers_.back();
    LoopOptions loop;
    loop.name = "orchestrations";
    loop.interest.orchestration_queues = {worker.queue};
    loop.on_trouble = note_trouble;
    loop.bound = poll;
    turns_.watch(dispatcher.locks());
    add_loop(dispatching_, std::move(loop), [&dispatcher] { return dispatcher.poll_once(); });
  }
  WorkClaimer::Parts claims{parts_.provider,
                            tokens_,
                            *parts_.handlers,
                            attempts_,
                            suspects_,
                            real_sleeper(),
                            parts_.firer,
                            parts_.name + "#" + std::to_string(tokens_.epoch().value),
                            beats_,
                            overlooked_};
  workers_.push_back(
      std::make_unique<PooledWorker>(std::move(claims),
                                     PooledWorker::Shared{parts_.handlers,
                                                          parts_.random,
                                                          settler_,
                                                          timer_,
                                                          parts_.reaper,
                                                          parts_.board->zombies_of(worker.queue),
                                                          zombie_times(options_)},
                                     parts_.pool,
                                     worker_options(options_, worker)));
  PooledWorker& pooled = *workers_.back();
  parts_.board->use(worker.queue, pooled.slots());
  LoopOptions loop;
  loop.name = "activities";
  loop.interest.work_queues = {worker.queue};
  loop.on_trouble = note_trouble;
  loop.bound = poll;
  add_loop(working_, std::move(loop), [&pooled] { return pooled.poll_once(); });
}

void Registration::look_after() {
  LoopOptions settling;
  settling.name = "outcomes";
  settling.wait = [this](milliseconds bound) { settler_->wait(bound); };
  settling.wake = [this] { settler_->wake(); };
  add_loop(keeping_, std::move(settling), [this] { return settler_->poll_once(); });

  keep_claims();

  LoopOptions sweeping;
  sweeping.name = "housekeeping";
  for (const WorkerSettings& worker : served_queues(options_)) {
    sweeping.interest.work_queues.push_back(worker.queue);
    sweeping.interest.orchestration_queues.push_back(worker.queue);
  }
  sweeping.interest.carry_on = true;
  sweeping.bound = to_ms(options_.store_poll_interval);
  sweeping.pause = std::min(kSweepPause, sweeping.bound);
  add_loop(keeping_, std::move(sweeping), [this] { return housekeeper_.poll_once(); });

  watch_processes();
}

/// Apart from each other: what waits for the writer of the store must not delay a look.
void Registration::keep_claims() {
  LoopOptions watching;
  watching.name = "claims";
  watching.interest.claims_of = tokens_.epoch();
  watching.bound = std::max(milliseconds(1), to_ms(options_.cancellation_poll_interval));
  watching.steps_when_idle = true;
  watching.longest_backoff = watching.bound;
  add_loop(keeping_, std::move(watching), [this] { return claims_.poll_once(); });
  overlooked_->connect([&loop = *keeping_.back()] { loop.nudge(); });

  LoopOptions leases;
  leases.name = "leases";
  // Often enough for locks of any length.
  leases.bound = std::max(milliseconds(1),
                          std::min({to_ms(options_.cancellation_poll_interval),
                                    to_ms(options_.orchestrator_lock_timeout) / 4,
                                    to_ms(options_.worker_lock_timeout) / 8}));
  leases.steps_when_idle = true;
  leases.longest_backoff = leases.bound;
  add_loop(keeping_, std::move(leases), [this] {
    const Step turns = turns_.poll_once();
    Step step = leases_.poll_once();
    if (!step.trouble) step.trouble = turns.trouble;
    return step;
  });
  beats_->connect([&loop = *keeping_.back()] { loop.nudge(); });
}

void Registration::watch_processes() {
  LoopOptions watching;
  watching.name = "processes";
  watching.bound = std::max(milliseconds(1), to_ms(options_.process_heartbeat_interval) / 2);
  watching.longest_backoff = watching.bound;
  watching.steps_when_idle = true;
  add_loop(keeping_, std::move(watching), [this, seen = std::int64_t{0}]() mutable {
    const auto now = steady_now();
    Step step = life_.poll_once(now);
    if (step.trouble) return step;
    const std::int64_t foreign = parts_.provider.change_mark().foreign;
    return watch_.poll_once(now, std::exchange(seen, foreign) != foreign);
  });
}

void Registration::end(Loops& loops) {
  for (const std::unique_ptr<Loop>& loop : loops) loop->request_stop();
  for (const std::unique_ptr<Loop>& loop : loops) loop->join();
  loops.clear();
}

void Registration::stop_claiming() {
  for (const std::unique_ptr<PooledWorker>& worker : workers_) worker->close();
  for (const std::unique_ptr<Loop>& loop : working_) loop->request_stop();
  for (const std::unique_ptr<Loop>& loop : dispatching_) loop->request_stop();
  for (const std::unique_ptr<OrchestrationDispatcher>& each : dispatchers_) each->hurry();
}

void Registration::end_claiming() {
  end(dispatching_);
  // The loops stay until those that may nudge them are gone.
  for (const std::unique_ptr<Loop>& loop : working_) loop->join();
}

ShutdownReport Registration::shut_down(std::chrono::steady_clock::time_point began) {
  const auto drained_by = began + options_.shutdown_grace_period;
  const auto deadline = drained_by + options_.shutdown_force_timeout;
  stop_claiming();
  // A claim under way may last as long as the store takes, and delays no token.
  for (const std::unique_ptr<Loop>& loop : working_) loop->wait_until_ended(drained_by);
  const auto held = [this] { return static_cast<int>(attempts_.held().size()); };
  ShutdownReport report;
  report.running = held();
  const bool drained = attempts_.wait_until_empty(drained_by);
  report.drained = drained ? report.running : std::max(0, report.running - held());
  if (!drained) {
    static_cast<void>(failpoint::hit("runtime.shutdown"));
    attempts_.fire_all(StopCause::kShutdown, kShutsDown);
    attempts_.wait_until_empty(deadline);
  }
  end_claiming();
  attempts_.fire_all(StopCause::kShutdown, kShutsDown);  // what was claimed meanwhile
  report.left = held();
  report.running = std::max(report.running, report.drained + report.left);
  report.stopped = report.running - report.drained - report.left;
  beats_->disconnect();
  overlooked_->disconnect();
  end(keeping_);
  settler_->close();
  const Result<ProcessEnded> released =
      parts_.provider.release_process({tokens_.epoch()}, {.timeout = kReleaseTimeout});
  report.released = released.ok();
  if (!released.ok()) {
    log::warning("the registration could not be ended: others take over what it holds",
                 {{"error", released.error().message}});
  }
  return report;
}

void Registration::abandon() {
  const std::string reason = "this process was taken for dead: its work was given to others";
  attempts_.fire_all(StopCause::kClaimLost, reason);
  stop_claiming();
  end_claiming();
  attempts_.fire_all(StopCause::kClaimLost, reason);  // what was claimed meanwhile
  beats_->disconnect();
  overlooked_->disconnect();
  end(keeping_);
  settler_->close();
  frames_.close();
}

}  // namespace perdure::runtime
