#include <atomic>
#include <csignal>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <thread>

#include <perdure/perdure.h>
#include <perdure/signals.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/processes/zombies_code.h"

/// A worker whose handlers do not stop: `perdure_zombies_child CASE FILE LOG`. Says what it does, a
/// line each; its errors go to LOG.
namespace perdure::test {
namespace {

using namespace std::chrono_literals;

void say(const std::string& what) {
  std::cout << what << std::endl;
}

RuntimeOptions impatient() {
  RuntimeOptions options;
  options.activity_cancellation_grace_period = 50ms;
  options.zombie_grace_period = 50ms;
  options.shutdown_grace_period = 50ms;
  options.zombie_shutdown_timeout = 100ms;
  options.force_exit_timeout = kForceExit;
  return options;
}

/// Some handlers that never return, and a runtime around them.
class Worker {
 public:
  explicit Worker(const std::string& file, const RuntimeOptions& options, RuntimeHooks hooks = {})
      : store_(open("sqlite:" + file)), client_(store_) {
    registry_.add(deaf, [begun = begun_] {
      ++*begun;
      for (;;) std::this_thread::sleep_for(1h);
    });
    registry_.add(polite, [begun = begun_](ActivityContext& ctx) {
      ++*begun;
      ctx.wait_until_canceled();
      ctx.throw_if_canceled();
      return 0;
    });
    add_runs(registry_);
    runtime_.emplace(store_, registry_, options, hooks);
  }

  void start_deaf(int count) {
    const int before = *begun_;
    for (int i = 0; i < count; ++i) client_.start(deaf_runs, "deaf" + std::to_string(i));
    while (*begun_ < before + count) std::this_thread::yield();
  }
  void cancel_deaf(int count) {
    say("canceling " + std::to_string(steady_now().time_since_epoch().count()));
    for (int i = 0; i < count; ++i) client_.cancel("deaf" + std::to_string(i), "end");
  }
  void start_polite() {
    const int before = *begun_;
    client_.start(polite_runs, "polite");
    while (*begun_ == before) std::this_thread::yield();
  }
  void wait_until_it_is_down() {
    const auto claims = [this] {
      const WorkerStatus status = runtime_->health().workers.at(0).status;
      return status != WorkerStatus::kStopping && status != WorkerStatus::kStopped;
    };
    while (runtime_->health().ready || runtime_->health().live || claims()) {
      std::this_thread::sleep_for(1ms);
    }
  }
  Client& client() { return client_; }
  /// A signal that need not come.
  int wait() { return run_until_signal(*runtime_) + 100; }

 private:
  const std::shared_ptr<Provider> store_;
  const std::shared_ptr<std::atomic<int>> begun_ = std::make_shared<std::atomic<int>>(0);
  Client client_;
  Registry registry_;
  std::optional<Runtime> runtime_;
};

/// As many as there may be, beside a handler that listens and a run that comes too late.
int too_many(const std::string& file) {
  const RuntimeOptions options = impatient();
  Worker worker(file, options);
  worker.start_polite();
  worker.start_deaf(options.max_zombie_count);
  worker.cancel_deaf(options.max_zombie_count);
  worker.wait_until_it_is_down();
  worker.client().start(late_runs, "late");
  say("not ready");
  return worker.wait();
}

RuntimeOptions one_is_too_many() {
  RuntimeOptions options = impatient();
  options.max_zombie_count = 1;
  return options;
}

/// The log does not take the line of the zombie, nor any other after it.
int log_that_hangs(const std::string& file) {
  log::set_sink([](log::Level, std::string_view line) {
    if (line.find("a zombie:") == std::string_view::npos) return;
    say("the log hangs");
    for (;;) std::this_thread::sleep_for(1h);
  });
  Worker worker(file, one_is_too_many());
  worker.start_deaf(1);
  worker.cancel_deaf(1);
  return worker.wait();
}

int hook_that_throws(const std::string& file) {
  RuntimeHooks hooks;
  hooks.on_fatal = [](const std::string&) {
    say("on_fatal");
    throw std::runtime_error("no help");
  };
  Worker worker(file, one_is_too_many(), hooks);
  worker.start_deaf(1);
  worker.cancel_deaf(1);
  return worker.wait();
}

/// A shutdown by a signal, with time enough for a stop that nobody forces to end.
int stop_by_a_signal(const std::string& file) {
  RuntimeOptions options = impatient();
  options.shutdown_force_timeout = 30s;
  Worker worker(file, options);
  worker.start_deaf(1);
  say("ready");
  return worker.wait();
}

const std::map<std::string, std::function<int(const std::string&)>> kCases = {
    {"too-many", too_many},
    {"log-hangs", log_that_hangs},
    {"hook-throws", hook_that_throws},
    {"signal", stop_by_a_signal},
};

}  // namespace
}  // namespace perdure::test

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is cut off leaves nothing behind
  ::poll(nullptr, 0, 0);  // a thread sanitizer may lose a signal in the first blocking call
  const auto found = perdure::test::kCases.find(argc == 4 ? argv[1] : "");
  if (found == perdure::test::kCases.end()) return 2;
  if (std::freopen(argv[3], "w", stderr) == nullptr) return 2;
  return found->second(argv[2]);
}
