#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <perdure/perdure.h>
#include <perdure/runtime.h>

#include "base/clock.h"
#include "provider/sqlite/options.h"
#include "tests/live/watched_provider.h"
#include "tests/support/temp_dir.h"

namespace perdure::test {

using namespace std::chrono_literals;

/// Longer than anything takes that works.
inline constexpr std::chrono::seconds kHanging{60};

/// A place where threads meet: opens once. Shared with handlers that may outlive a test.
class Gate {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  /// False: it hangs.
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kHanging, [this] { return open_; });
  }
  bool is_open() {
    const std::lock_guard lock(mutex_);
    return open_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

/// Runtimes with their threads over a file.
class Live : public ::testing::Test {
 protected:
  Live() : Live(system_clock()) {}
  /// With the time of this clock in the store; it must outlive the test.
  explicit Live(Clock& clock) : real_(open(clock)) {}

  /// Shares `provider` with the runtimes, which must be gone before it.
  std::shared_ptr<Provider> store() { return {std::shared_ptr<void>(), &store_}; }

  /// Short waits, so that what depends on them is seen in a test.
  static RuntimeOptions options() {
    RuntimeOptions options;
    options.cancellation_poll_interval = 20ms;
    options.store_poll_interval = 20ms;
    options.process_heartbeat_interval = 20ms;
    options.zombie_shutdown_timeout = 0ms;  // for handlers that a test leaves behind
    return options;
  }
  Runtime& run(const RuntimeOptions& with = options()) {
    runtime_ = std::make_unique<Runtime>(store(), registry_, with);
    return *runtime_;
  }

  template <class R, class A>
  void start(const Orchestration<R(A)>& orchestration,
             const std::string& id,
             const std::string& input) {
    StartOrchestration request;
    request.id = id;
    request.name = std::string(orchestration.name());
    request.input = input;
    ASSERT_TRUE(real_->start_orchestration(std::move(request)).ok());
  }
  template <class R>
  void start(const Orchestration<R()>& orchestration, const std::string& id) {
    StartOrchestration request;
    request.id = id;
    request.name = std::string(orchestration.name());
    request.input = "null";
    ASSERT_TRUE(real_->start_orchestration(std::move(request)).ok());
  }
  template <class T>
  void raise(const std::string& id, const Event<T>& event, const std::string& payload) {
    RaiseEvent request;
    request.id = id;
    request.name = std::string(event.name());
    request.payload = payload;
    ASSERT_TRUE(real_->raise_event(std::move(request)).ok());
  }
  CancelAnswer cancel(const std::string& id, const std::string& reason) {
    CancelOrchestration request;
    request.id = id;
    request.reason = reason;
    return real_->cancel_orchestration(std::move(request)).value();
  }

  ExecutionInfo info(const std::string& id) { return real_->get_instance(id).value().current; }
  /// Waits until the run has ended.
  ExecutionInfo end_of(const std::string& id) {
    wait_for([&] { return is_terminal(info(id).status); }, "the end of " + id);
    return info(id);
  }
  /// Waits until it holds, looking after each change of the store.
  void wait_for(const std::function<bool()>& done, const std::string& what) {
    const auto until = std::chrono::steady_clock::now() + kHanging;
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "waited in vain for " << what;
      real_->wait_for_change({.after = real_->change_mark(), .bound = 2ms});
    }
  }

  support::TempDir dir_;
  std::unique_ptr<Provider> real_;
  WatchedProvider store_{*real_};
  Registry registry_;
  std::unique_ptr<Runtime> runtime_;

 private:
  std::unique_ptr<Provider> open(Clock& clock) const {
    sqlite::Options options;
    options.clock = &clock;
    options.path = dir_.file("db");
    options.durability = sqlite::Durability::kRelaxed;
    return sqlite::open(options).value();
  }
};

}  // namespace perdure::test
