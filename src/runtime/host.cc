#include "runtime/host.h"

#include <algorithm>
#include <exception>
#include <unistd.h>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "runtime/queues.h"

namespace perdure::runtime {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{50};
constexpr milliseconds kLongestPause = std::chrono::seconds(1);

std::string host_name() {
  std::string name(256, '\0');
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.c_str();
}

std::string process_name() {
  return host_name() + ":" + std::to_string(getpid());
}

}  // namespace

Host::Host(std::shared_ptr<Provider> store,
           std::shared_ptr<const detail::HandlerTable> handlers,
           const RuntimeOptions& options)
    : store_(std::move(store)),
      handlers_(std::move(handlers)),
      options_(options),
      random_(std::make_shared<SystemRandom>()),
      thread_([this] { run(); }) {}

Host::~Host() {
  stop();
}

void Host::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  const std::lock_guard lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
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
      if (epoch) release(*epoch);
      pause(kLongestPause);
    }
  }
  if (const std::size_t stuck = quarantine_->size(); stuck != 0) {
    log::warning("turns that do not return are left to themselves until the process ends",
                 {{"turns", stuck}});
  }
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
    const Result<Epoch> epoch = store_->register_process(std::move(request));
    if (epoch.ok()) return *epoch;
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
  Registration registration(
      {*store_, handlers_, random_, pool_, firer_, process_name(), quarantine_},
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
  lock.unlock();
  if (lost) {
    log::warning("the registration of this process was ended by others: registering anew",
                 {{"epoch", epoch.value}});
    registration.abandon();
    // It has ended; this provider forgets the lock that proved its life.
    return release(epoch);
  }
  const ShutdownReport report = registration.shut_down();
  log::info("the runtime has stopped", {{"running", report.running}, {"left", report.left}});
}

void Host::release(Epoch epoch) {
  const auto released = store_->release_process({epoch}, {.timeout = kLongestPause});
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
