#include "runtime/host.h"

#include <algorithm>
#include <exception>
#include <unistd.h>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "runtime/end_process.h"
#include "runtime/queues.h"
#include "runtime/served.h"

namespace perdure::runtime {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause = std::chrono::seconds(1);
/// Beyond the deadline of a stop, for the commits that give back what is left.
constexpr milliseconds kLastCommits = std::chrono::seconds(3);

std::string host_name() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.c_str();
}

std::string process_name() {
  return host_name() + ":" + std::to_string(getpid());
}

std::shared_ptr<WorkerBoard> board_of(const RuntimeOptions& options, const RuntimeHooks& hooks) {
  auto board = std::make_shared<WorkerBoard>(hooks.on_worker_status);
  for (const WorkerSettings& worker : served_queues(options)) {
    board->add(worker.queue, worker.max_concurrent_activities);
  }
  return board;
}

[[noreturn]] void end_with_code_one(const std::string& why) noexcept {
  end_process(1, [&why] { log::error("the process ends, with code 1", {{"why", why}}); });
}

/// What the program wants instead of the end of its process, else that.
void be_fatal(const RuntimeHooks& hooks, const std::string& why) noexcept {
  if (!hooks.on_fatal) end_with_code_one(why);
  try {
    hooks.on_fatal(why);
  } catch (...) {
    end_with_code_one(why + ", and the hook on_fatal has thrown");
  }
}

}  // namespace

Host::Host(std::shared_ptr<Provider> store,
           std::shared_ptr<const detail::HandlerTable> handlers,
           const RuntimeOptions& options,
           const RuntimeHooks& hooks)
    : shared_store_(std::move(store)),
      store_(*shared_store_),
      handlers_(std::move(handlers)),
      options_(options),
      hooks_(hooks),
      board_(board_of(options, hooks)),
      random_(std::make_shared<SystemRandom>()),
      zombies_(std::make_unique<ZombieReaper::Listening>(
          process_reaper(), [this](std::size_t count) { go_down(count); })),
      thread_([this] { run(); }) {}

Host::~Host() {
  stop();
  zombies_.reset();
}

ShutdownReport Host::stop() {
  {
    const std::lock_guard lock(mutex_);
    begin_stop();
  }
  changed_.notify_all();
  {
    const std::lock_guard lock(join_mutex_);
    if (thread_.joinable()) thread_.join();
  }
  const std::lock_guard lock(mutex_);
  return report_;
}

RuntimeHealth Host::health() {
  RuntimeHealth health;
  health.workers = board_->health();
  health.zombies = static_cast<int>(process_reaper().count());
  health.ready = std::all_of(health.workers.begin(), health.workers.end(), [](const auto& each) {
    return each.status == WorkerStatus::kReady;
  });
  const std::lock_guard lock(mutex_);
  health.live = !down_;
  health.ready = health.ready && !stopping_;
  return health;
}

/// With mutex_ held.
void Host::begin_stop() {
  if (stopping_) return;
  stopping_ = true;
  stop_began_ = steady_now();
  const Duration waits = options_.shutdown_grace_period + options_.shutdown_force_timeout;
  deadline_->set(stop_began_ + waits);
  store_.end_by(stop_began_ + waits + kLastCommits);
  end_of_calls_.emplace(waits + kLastCommits, [this] { store_.end_now(); });
}

/// On the thread of the reaper, or in the constructor.
void Host::go_down(std::size_t zombies) {
  const auto most = static_cast<std::size_t>(options_.max_zombie_count);
  if (most == 0 || zombies < most) return;
  const std::string why =
      std::to_string(zombies) + " threads of this process do not end: max_zombie_count is reached";
  {
    const std::lock_guard lock(mutex_);
    if (down_) return;
    down_ = true;
    begin_stop();
    forced_exit_.emplace(options_.force_exit_timeout,
                         [hooks = hooks_, why] { be_fatal(hooks, why); });
  }
  changed_.notify_all();  // before the line: the log may be what hangs
  log::error("the runtime goes down: start a new process", {{"why", why}});
}

OnStuck Host::count_stuck_turns() {
  return [options = options_, board = board_](const StuckTurn& turn) {
    Stray stray;
    stray.times = zombie_times(options);
    stray.times.grace = Duration::zero();  // it had its time
    stray.count = board->zombies_of(turn.queue);
    stray.what = [what = "a turn of '" + turn.orchestration + "', run '" + turn.instance_id + "'"] {
      return what;
    };
    const ZombieReaper::Id id = process_reaper().watch(std::move(stray), steady_now());
    return [id] { process_reaper().returned(id); };
  };
}

void Host::wait_for_zombies() {
  const auto all = board_->all_zombies();
  std::unique_lock lock(mutex_);
  const auto until = stop_began_ + options_.zombie_shutdown_timeout;
  lock.unlock();
  process_reaper().wait_until_none(all, until);
  const std::size_t alive = process_reaper().alive(all);
  lock.lock();
  report_.zombies = static_cast<int>(alive);
}

void Host::run() {
  while (!is_stopping()) {
    std::optional<Epoch> epoch;
    try {
      epoch = register_process();
      if (!epoch) break;
      run_registration(*epoch);
    } catch (const std::exception& error) {
      log::error("the runtime cannot run: trying again", {{"error", error.what()}});
      for (const WorkerHealth& each : board_->health()) {
        board_->note_trouble(each.queue, error.what());
      }
      board_->move_all_to(WorkerStatus::kStopped);
      if (epoch) release(*epoch);
      pause(kLongestPause);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    end_of_calls_.reset();  // no call is under way
  }
  if (const std::size_t stuck = quarantine_->size(); stuck != 0) {
    log::warning("turns that do not return are left to themselves until the process ends",
                 {{"turns", stuck}});
  }
  wait_for_zombies();
  const std::size_t left = pool_.close(steady_now());
  if (left == 0) return;
  log::warning("handlers that do not stop are left to themselves until the process ends",
               {{"handlers", left}});
}

/// Nothing when it was told to stop first.
std::optional<Epoch> Host::register_process() {
  for (milliseconds wait = kFirstPause; !is_stopping(); wait = std::min(2 * wait, kLongestPause)) {
    RegisterProcess request;
    request.host = host_name();
    request.pid = getpid();
    for (const WorkerSettings& worker : served_queues(options_)) {
      request.queues.push_back(worker.queue);
    }
    request.declared = declared_by(*handlers_);
    const Result<Epoch> epoch = store_.register_process(std::move(request));
    if (epoch.ok()) return *epoch;
    for (const WorkerHealth& each : board_->health()) {
      board_->note_trouble(each.queue, epoch.error().message);
    }
    log::warning("this process cannot be registered in the store: trying again",
                 {{"error", epoch.error().message}});
    pause(wait);
  }
  return std::nullopt;
}

void Host::run_registration(Epoch epoch) {
  {
    const std::lock_guard lock(mutex_);
    lost_ = false;
  }
  Registration registration({store_,
                             handlers_,
                             random_,
                             pool_,
                             firer_,
                             process_name(),
                             board_,
                             &process_reaper(),
                             quarantine_,
                             count_stuck_turns(),
                             deadline_},
                            options_,
                            epoch,
                            [this] {
                              {
                                const std::lock_guard lock(mutex_);
                                lost_ = true;
                              }
                              changed_.notify_all();
                            });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || lost_; });
  const bool lost = lost_;
  const auto began = stop_began_;
  lock.unlock();
  registration.stop_claiming();  // before the hook, which may take its time
  board_->move_all_to(WorkerStatus::kStopping);
  if (lost) {
    log::warning("the registration of this process was ended by others: registering anew",
                 {{"epoch", epoch.value}});
    registration.abandon();
    board_->move_all_to(WorkerStatus::kStopped);
    // It has ended; this provider forgets the lock that proved its life.
    return release(epoch);
  }
  const ShutdownReport report = registration.shut_down(began);
  board_->move_all_to(WorkerStatus::kStopped);
  log::info("the runtime has stopped",
            {{"running", report.running},
             {"drained", report.drained},
             {"stopped", report.stopped},
             {"left", report.left}});
  lock.lock();
  report_ = report;
}

void Host::release(Epoch epoch) {
  const auto released = store_.release_process({epoch}, {.timeout = kLongestPause});
  if (released.ok()) return;
  log::warning("a registration could not be ended: others take over what it holds",
               {{"error", released.error().message}});
}

bool Host::is_stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Host::pause(milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stopping_; });
}

}  // namespace perdure::runtime
