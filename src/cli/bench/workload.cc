#include "cli/bench/workload.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "cli/bench/cancel_workload.h"
#include "cli/bench/fanin_workload.h"
#include "cli/bench/fanout_workload.h"
#include "cli/bench/hello_workload.h"
#include "cli/bench/history_workload.h"
#include "cli/bench/idle_workload.h"
#include "cli/bench/provider_workload.h"
#include "cli/bench/recovery_workload.h"
#include "cli/bench/sleepers_workload.h"
#include "cli/bench/soak_workload.h"

namespace perdure::bench {

namespace {

constexpr std::string_view kLoopOptions = "--seconds --warmup --in-flight --activity-ms --workers";

constexpr std::array kWorkloads{
    Workload{.name = "provider",
             .run = &run_provider,
             .takes = "--seconds --warmup --in-flight --count --threads --slow-fsync",
             .least_in_flight = 128,
             .least_count = 4'000},
    Workload{
        .name = "hello", .run = &run_hello, .takes = "--seconds --warmup --activity-ms --workers"},
    Workload{.name = "fanout", .run = &run_fanout, .takes = kLoopOptions},
    Workload{.name = "chain", .run = &run_chain, .takes = kLoopOptions},
    Workload{.name = "fanin",
             .run = &run_fanin,
             .takes = "--count --seconds --warmup --in-flight --activity-ms --workers"},
    Workload{.name = "history",
             .run = &run_history,
             .takes = "--count --warmup --activity-ms --workers",
             .least_count = kDeciles},
    Workload{.name = "sleepers", .run = &run_sleepers, .takes = "--count", .least_count = 2},
    Workload{.name = "idle", .run = &run_idle, .takes = "--seconds --warmup --count"},
    Workload{.name = "cancel",
             .run = &run_cancel,
             .takes = "--running --count --processes --drop-notifications"},
    Workload{.name = "recovery", .run = &run_recovery, .takes = "--held --heartbeat-only"},
    Workload{.name = "soak", .run = &run_soak, .takes = "--cancels --seed --workers"},
};

}  // namespace

std::span<const Workload> workloads() {
  return kWorkloads;
}

const Workload& workload(std::string_view name) {
  const auto* found = std::find_if(
      kWorkloads.begin(), kWorkloads.end(), [&](const Workload& one) { return one.name == name; });
  PERDURE_CHECK(found != kWorkloads.end(), "the command line names a workload");
  return *found;
}

}  // namespace perdure::bench
