#include <functional>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <perdure/errors.h>
#include <perdure/runtime_options.h>

#include "runtime/step_options.h"

namespace perdure {

namespace {

using namespace std::chrono_literals;

template <class Options>
std::string refusal(const std::function<void(Options&)>& change) {
  Options options;
  change(options);
  try {
    check(options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

std::string refused(const std::function<void(RuntimeOptions&)>& change) {
  return refusal<RuntimeOptions>(change);
}

TEST(RuntimeOptions, AreGoodAsTheyStand) {
  EXPECT_EQ(refused([](RuntimeOptions&) {}), "(accepted)");
}

TEST(RuntimeOptions, NameTheFieldTheRangeAndTheValue) {
  EXPECT_EQ(refused([](RuntimeOptions& o) { o.max_concurrent_activities = 0; }),
            "max_concurrent_activities must be 1 to 100000, but it is 0");
  EXPECT_EQ(refused([](RuntimeOptions& o) { o.worker_lock_timeout = 1ms; }),
            "worker_lock_timeout must be 100000 us to 31536000000000 us, but it is 1000 us");
  EXPECT_EQ(refused([](RuntimeOptions& o) { o.replay_check_fraction = 1.5; }),
            "replay_check_fraction must be 0 to 1, but it is 1.500000");
}

TEST(RuntimeOptions, RefuseWhatIsNoNumber) {
  EXPECT_NE(refused([](RuntimeOptions& o) {
              o.replay_check_fraction = std::numeric_limits<double>::quiet_NaN();
            }),
            "(accepted)");
}

TEST(RuntimeOptions, AreCheckedAgainstEachOther) {
  EXPECT_EQ(refused([](RuntimeOptions& o) { o.zombie_retry_interval = 2min; }),
            "zombie_retry_interval must be 1000 us to 60000000 us, but it is 120000000 us");
  EXPECT_EQ(refused([](RuntimeOptions& o) { o.process_heartbeat_interval = 3s; }),
            "worker_dead_after must be 6000000 us to 31536000000000 us, but it is 5000000 us");
  EXPECT_NE(refused([](RuntimeOptions& o) { o.default_heartbeat_throttle_interval = 2min; }),
            "(accepted)");
}

TEST(RuntimeOptions, MayTurnThingsOffWithZero) {
  EXPECT_EQ(refused([](RuntimeOptions& o) {
              o.orchestration_deadlock_timeout = 0s;
              o.force_exit_timeout = 0s;
              o.max_cached_orchestrations = 0;
              o.replay_check_fraction = 0;
            }),
            "(accepted)");
}

TEST(RuntimeOptions, NameTheWorkerThatIsWrong) {
  EXPECT_EQ(refused([](RuntimeOptions& o) {
              o.workers = {{.queue = "default"}, {.queue = "gpu", .max_concurrent_activities = -2}};
            }),
            "workers[1].max_concurrent_activities must be 1 to 100000, but it is -2");
  EXPECT_EQ(refused([](RuntimeOptions& o) {
              o.workers = {{.queue = "a"}, {.queue = "a"}};
            }),
            "workers[1].queue: 'a' is listed twice");
  EXPECT_EQ(refused([](RuntimeOptions& o) { o.workers = {{.queue = ""}}; }).substr(0, 16),
            "workers[0].queue");
}

TEST(StepOptions, NameTheFieldThatIsOutOfItsRange) {
  using runtime::DispatcherOptions;
  using runtime::WorkerOptions;
  EXPECT_EQ(refusal<DispatcherOptions>([](auto&) {}), "(accepted)");
  EXPECT_EQ(refusal<WorkerOptions>([](auto&) {}), "(accepted)");
  EXPECT_EQ(refusal<DispatcherOptions>([](auto& o) { o.batch = 0; }),
            "batch must be 1 to 10000, but it is 0");
  EXPECT_EQ(refusal<DispatcherOptions>([](auto& o) { o.backoff.longest = 1ms; }).substr(0, 15),
            "backoff.longest");
  EXPECT_EQ(refusal<WorkerOptions>([](auto& o) { o.lock_timeout = 0s; }).substr(0, 12),
            "lock_timeout");
  EXPECT_EQ(refusal<WorkerOptions>([](auto& o) { o.queue = ""; }).substr(0, 5), "queue");
}

TEST(Backoff, DoublesUpToItsLongest) {
  const runtime::Backoff backoff{1s, 10s};
  EXPECT_EQ(backoff.after(1), 1s);
  EXPECT_EQ(backoff.after(2), 2s);
  EXPECT_EQ(backoff.after(4), 8s);
  EXPECT_EQ(backoff.after(5), 10s);
  EXPECT_EQ(backoff.after(1'000'000), 10s);
}

}  // namespace

}  // namespace perdure
