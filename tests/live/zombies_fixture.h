#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "base/guarded.h"
#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"

/// What tests of handlers that do not stop share.
namespace perdure::test::zombies {

inline constexpr Activity<int(int)> deaf{"deaf"};
inline constexpr Activity<int(int)> errand{"errand"};
inline constexpr Orchestration<int(int)> trying{"trying"};
inline constexpr Orchestration<int(int)> errands{"errands"};
using Time = std::chrono::steady_clock::time_point;
inline constexpr const char* kZombie = "a zombie: it was told to stop, and its thread runs on";

inline Task<int> run_trying(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(deaf, value);
}
inline Task<int> run_errands(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(errand, value);
}

/// Shared with handlers, which outlive tests.
struct Doors {
  std::atomic<int> begun{0};
  std::atomic<int> returned{0};
  std::atomic<bool> leave{false};
  std::mutex mutex;
  Guarded<std::optional<Time>> errand_at;  ///< the first one
};

inline std::shared_ptr<Doors> doors_of_turns;

inline constexpr Orchestration<int(int)> blocking{"blocking"};

/// Blocks in its turn, the first time.
inline Task<int> run_blocking(OrchestrationContext&, int value) {
  const auto doors = doors_of_turns;
  ++doors->begun;
  while (!doors->leave) std::this_thread::sleep_for(10ms);
  ++doors->returned;
  co_return value;
}

class Zombies : public Live {
 protected:
  Zombies() {
    registry_.add(trying, run_trying);
    registry_.add(errands, run_errands);
    registry_.add(errand, [doors = doors_](int value) {
      doors->errand_at.with([](std::optional<Time>& at) {
        if (!at) at = steady_now();
      });
      return value + 1;
    });
  }
  ~Zombies() override {
    doors_->leave = true;
    wait_for([&] { return doors_->returned == doors_->begun; }, "the last handler");
    wait_for_zombies(0);
    runtime_.reset();
  }

  static RuntimeOptions impatient() {
    RuntimeOptions options = Live::options();
    options.activity_cancellation_grace_period = 50ms;
    options.zombie_grace_period = 50ms;
    options.zombie_retry_interval = 20ms;
    options.shutdown_grace_period = 0ms;
    options.zombie_shutdown_timeout = 0ms;
    options.max_concurrent_activities = 1;
    return options;
  }
  /// A handler that does `wait` until the test is over.
  void ignore_in(std::function<void(Doors&)> wait, HandlerOptions options = {}) {
    registry_.add(
        deaf,
        [doors = doors_, wait = std::move(wait)](int value) {
          ++doors->begun;
          wait(*doors);
          ++doors->returned;
          return value;
        },
        options);
  }
  void ignore_in_a_sleep() {
    ignore_in([](Doors& doors) {
      while (!doors.leave) std::this_thread::sleep_for(10ms);
    });
  }
  void start_in(const std::string& queue,
                const Orchestration<int(int)>& orchestration,
                const std::string& id) {
    StartOrchestration request;
    request.id = id;
    request.name = std::string(orchestration.name());
    request.queue = queue;
    request.input = "1";
    ASSERT_TRUE(real_->start_orchestration(std::move(request)).ok());
  }
  void cancel_running(const std::string& id = "z", const std::string& queue = "default") {
    const int before = doors_->begun;
    start_in(queue, trying, id);
    wait_for([&] { return doors_->begun > before; }, "the handler");
    EXPECT_TRUE(cancel(id, "enough").changed);
  }
  void wait_for_zombies(int count) {
    wait_for([&] { return runtime_->health().zombies == count; }, "zombies");
  }
  void expect_a_zombie_that_holds_nobody_up() {
    run(impatient());
    cancel_running();
    wait_for_zombies(1);
    wait_for([&] { return log_.count(log::Level::kError, kZombie) == 1; }, "its line");
    EXPECT_EQ(log_.count(log::Level::kError, "activity 'deaf' of run 'z', attempt 1, told: enough"),
              1);
    EXPECT_EQ(runtime_->health().workers.at(0).zombies, 1);
    start(errands, "e", "1");
    EXPECT_EQ(end_of("e").output, "2") << "its slot is free";
    EXPECT_EQ(end_of("z").status, ExecutionStatus::kCanceled);
    doors_->leave = true;
    wait_for_zombies(0);
    wait_for([&] { return log_.count(log::Level::kInfo, "its outcome is dropped") == 1; }, "its end");
    EXPECT_EQ(info("z").output, "");
    EXPECT_TRUE(runtime_->health().ready);
  }

  const std::shared_ptr<Doors> doors_ = std::make_shared<Doors>();
  LogLines log_;
};

}  // namespace perdure::test::zombies
