#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/errors.h>
#include <perdure/runtime_options.h>

#include "model/ids.h"
#include "runtime/settings.h"
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

/// A value at the edge of a range.
struct Edge {
  std::function<void(RuntimeOptions&)> set;
  bool good;
};

/// A good value of everything, and so that each bound can be reached: nothing else is in its way.
RuntimeOptions roomy_options() {
  RuntimeOptions options;
  options.workers = {WorkerSettings{}};
  for (const runtime::Setting& each : runtime::settings()) {
    const auto* const row = std::get_if<runtime::TimeSetting>(&each.kind);
    if (row == nullptr) continue;
    if (row->least_by.member != nullptr) options.*row->member = row->most;
    if (row->most_by.member != nullptr) options.*row->member = row->least;
  }
  return options;
}

/// Below, at and above both bounds of a row.
struct Edges {
  std::vector<Edge> operator()(const runtime::TimeSetting& row) const {
    const RuntimeOptions options = roomy_options();
    const Duration least = runtime::least_of(row, options);
    const Duration most = runtime::most_of(row, options);
    return {at(row.member, least - 1us, false),
            at(row.member, least, true),
            at(row.member, most, true),
            at(row.member, most + 1us, false)};
  }
  std::vector<Edge> operator()(const runtime::CountSetting<RuntimeOptions>& row) const {
    return {at(row.member, row.least - 1, false),
            at(row.member, row.least, true),
            at(row.member, row.most, true),
            at(row.member, row.most + 1, false)};
  }
  std::vector<Edge> operator()(const runtime::CountSetting<WorkerSettings>& row) const {
    return {in_queue(row.member, row.least - 1, false),
            in_queue(row.member, row.least, true),
            in_queue(row.member, row.most, true),
            in_queue(row.member, row.most + 1, false)};
  }
  std::vector<Edge> operator()(const runtime::SizeSetting& row) const {
    constexpr std::size_t kMost = option_ranges::kMostSize;
    // Below zero there is only the largest size.
    return {at(row.member, row.least - 1, false),
            at(row.member, row.least, true),
            at(row.member, kMost, true),
            at(row.member, kMost + 1, false)};
  }
  std::vector<Edge> operator()(const runtime::FractionSetting& row) const {
    return {at(row.member, std::nextafter(0.0, -1.0), false),
            at(row.member, 0.0, true),
            at(row.member, 1.0, true),
            at(row.member, std::nextafter(1.0, 2.0), false)};
  }
  std::vector<Edge> operator()(const runtime::SwitchSetting& row) const {
    return {at(row.member, false, true), at(row.member, true, true)};
  }
  std::vector<Edge> operator()(const runtime::QueuesSetting& row) const {
    using Workers = std::vector<WorkerSettings>;
    return {at(row.member, Workers{}, true),
            at(row.member, Workers{{.queue = "a"}, {.queue = "b"}}, true)};
  }
  std::vector<Edge> operator()(const runtime::QueueTimeSetting& row) const {
    using Time = std::optional<Duration>;
    return {in_queue(row.member, Time(row.least - Duration(1)), false),
            in_queue(row.member, Time(row.least), true),
            in_queue(row.member, Time(), true),
            in_queue(row.member, Time(row.most), true),
            in_queue(row.member, Time(row.most + Duration(1)), false)};
  }
  std::vector<Edge> operator()(const runtime::QueueNameSetting& row) const {
    return {in_queue(row.member, std::string(), false),
            in_queue(row.member, std::string("q"), true),
            in_queue(row.member, std::string(kMaxIdBytes, 'q'), true),
            in_queue(row.member, std::string(kMaxIdBytes + 1, 'q'), false)};
  }

 private:
  template <class T>
  static Edge at(T RuntimeOptions::*member, T value, bool good) {
    return {[member, value](RuntimeOptions& o) { o.*member = value; }, good};
  }
  template <class T>
  static Edge in_queue(T WorkerSettings::*member, T value, bool good) {
    return {[member, value](RuntimeOptions& o) { o.workers.at(0).*member = value; }, good};
  }
};

TEST(RuntimeOptions, AreGoodAsTheyStand) {
  EXPECT_EQ(refused([](RuntimeOptions&) {}), "(accepted)");
}

TEST(RuntimeOptions, HaveTheDefaultsThatPeopleRelyOn) {
  const RuntimeOptions options;
  EXPECT_EQ(options.max_concurrent_orchestrations, 200);
  EXPECT_EQ(options.max_concurrent_activities, 200);
  EXPECT_EQ(WorkerSettings{}.max_concurrent_orchestrations, 200);
  EXPECT_EQ(WorkerSettings{}.max_concurrent_activities, 200);
  EXPECT_EQ(options.orchestration_deadlock_timeout, 2s);
  EXPECT_EQ(WorkerSettings{}.orchestration_deadlock_timeout, std::nullopt);
  EXPECT_EQ(options.max_heartbeat_throttle_interval, 60s);
  EXPECT_EQ(options.default_heartbeat_throttle_interval, 30s);
  EXPECT_EQ(options.activity_cancellation_grace_period, 10s);
  EXPECT_EQ(options.shutdown_grace_period, 10s);
  EXPECT_EQ(options.shutdown_force_timeout, 5s);
  EXPECT_EQ(options.force_exit_timeout, 60s);
  EXPECT_EQ(options.max_zombie_count, 10);
  EXPECT_EQ(options.zombie_retry_interval, 1s);
  EXPECT_EQ(options.zombie_retry_max_delay, 60s);
  EXPECT_EQ(options.zombie_grace_period, 10s);
  EXPECT_EQ(options.zombie_give_up_after, 1h);
  EXPECT_EQ(options.zombie_shutdown_timeout, 30s);
  EXPECT_EQ(options.worker_lock_timeout, 30s);
  EXPECT_EQ(options.worker_lock_renewal_buffer, 5s);
  EXPECT_EQ(options.orchestrator_lock_timeout, 30s);
  EXPECT_EQ(options.cancellation_poll_interval, 1s);
  EXPECT_EQ(options.store_poll_interval, 1s);
  EXPECT_EQ(options.process_heartbeat_interval, 1s);
  EXPECT_EQ(options.worker_dead_after, 5s);
  EXPECT_EQ(options.max_attempts, 10);
  EXPECT_EQ(options.cancel_cleanup_timeout, 60s);
  EXPECT_EQ(options.handler_drain_timeout, 60s);
  EXPECT_EQ(options.max_cached_orchestrations, 10'000U);
  EXPECT_EQ(options.max_cache_bytes, 256U << 20U);
  EXPECT_EQ(options.max_payload_bytes, 2U << 20U);
  EXPECT_EQ(options.history_warning_events, 25'000U);
  EXPECT_EQ(options.replay_check_fraction, 0.001);
}

TEST(RuntimeOptions, NameTheFieldTheRangeAndTheValue) {
  EXPECT_EQ(refused([](RuntimeOptions& o) { o.max_concurrent_activities = 0; }),
            "max_concurrent_activities must be 1 to 100000, but it is 0");
  EXPECT_EQ(refused([](RuntimeOptions& o) { o.worker_lock_timeout = 1ms; }),
            "worker_lock_timeout must be 100000 us to 31536000000000 us, but it is 1000 us");
  EXPECT_EQ(refused([](RuntimeOptions& o) { o.replay_check_fraction = 1.5; }),
            "replay_check_fraction must be 0 to 1, but it is 1.500000");
}

TEST(RuntimeOptions, AreGoodUpToTheirBoundsAndNoFurther) {
  for (const runtime::Setting& each : runtime::settings()) {
    const std::string field =
        (runtime::is_of_queue(each) ? "workers[0]." : "") + std::string(each.name);
    const std::vector<Edge> edges = std::visit(Edges{}, each.kind);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const std::string answer = refused([&](RuntimeOptions& o) {
        o = roomy_options();
        edges[i].set(o);
      });
      if (edges[i].good) {
        EXPECT_EQ(answer, "(accepted)") << field << ", edge " << i;
      } else {
        EXPECT_EQ(answer.substr(0, field.size()), field) << "edge " << i << ": " << answer;
      }
    }
  }
}

TEST(RuntimeOptions, RefuseABoundBeforeWhatItBounds) {
  const auto field = [](const std::function<void(RuntimeOptions&)>& change) {
    const std::string answer = refused(change);
    return answer.substr(0, answer.find(' '));
  };
  EXPECT_EQ(field([](RuntimeOptions& o) { o.process_heartbeat_interval = -1s; }),
            "process_heartbeat_interval");
  EXPECT_EQ(field([](RuntimeOptions& o) { o.zombie_retry_max_delay = 0s; }),
            "zombie_retry_max_delay");
  EXPECT_EQ(field([](RuntimeOptions& o) { o.max_heartbeat_throttle_interval = 0s; }),
            "max_heartbeat_throttle_interval");
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
              o.workers = {{.queue = "a", .orchestration_deadlock_timeout = 0s}};
              o.force_exit_timeout = 0s;
              o.max_zombie_count = 0;
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
  EXPECT_EQ(refused([](RuntimeOptions& o) {
              o.workers = {{.queue = "a", .orchestration_deadlock_timeout = -1s}};
            }).substr(0, 41),
            "workers[0].orchestration_deadlock_timeout");
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
