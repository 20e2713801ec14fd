#include "cli/bench/recovery_workload.h"

#include <algorithm>
#include <optional>
#include <thread>

#include <perdure/perdure.h>

#include "base/clock.h"
#include "base/random.h"
#include "cli/bench/engine_bench.h"
#include "cli/bench/gathering.h"
#include "cli/bench/heartbeat_only.h"
#include "cli/bench/held_runs.h"
#include "cli/bench/holder.h"
#include "cli/bench/own_child.h"
#include "cli/bench/patience.h"
#include "cli/bench/starts.h"
#include "model/status.h"

namespace perdure::bench {

namespace {

constexpr std::int64_t kHeld = 10'000;
constexpr auto kLook = std::chrono::milliseconds(5);

/// The process that will be killed; returns when it runs all handlers.
Result<OwnChild> start_holder(EngineBench& bench, std::int64_t handlers) {
  PERDURE_ASSIGN_OR_RETURN(
      OwnChild holder, OwnChild::start({kHolderCommand, bench.url(), std::to_string(handlers)}));
  PERDURE_ASSIGN_OR_RETURN(const std::string line, holder.read_line());
  if (line != "held") return unavailable("the process that holds handlers: " + line);
  return holder;
}

/// Until both processes are known to the store.
Status wait_for_processes(Provider& store, std::size_t count) {
  const auto until = steady_now() + kPatience;
  while (steady_now() < until) {
    PERDURE_ASSIGN_OR_RETURN(const auto processes, store.list_processes());
    if (processes.size() >= count) return {};
    std::this_thread::sleep_for(kLook);
  }
  return unavailable("the runtime that shall take over does not begin");
}

/// Kills it at a random moment between two heartbeats; answers when.
Starts::SteadyTime kill_at_random(OwnChild& holder, Duration heartbeat) {
  SystemRandom random;
  std::this_thread::sleep_for(heartbeat + random.unit() * heartbeat);
  const auto now = steady_now();
  holder.kill();
  return now;
}

std::int64_t completions(const Client& client, const std::string& id) {
  const HistoryEvents history = client.history(id);
  return std::count_if(history.events.begin(), history.events.end(), [](const RunEvent& event) {
    return event.kind == "activity_completed";
  });
}

/// Answers how many runs hold more than one end of their activity.
std::int64_t check_ends(const Client& client, std::int64_t handlers, Report& report) {
  std::int64_t doubled = 0;
  for (std::int64_t i = 0; i < handlers; ++i) {
    const std::string id = held_id(i);
    const RunStatus end = client.wait(id, kPatience);
    const std::int64_t ends = completions(client, id);
    if (ends > 1) ++doubled;
    if (end.status == ExecutionStatus::kCompleted && end.output == i && ends == 1) {
      ++report.completed;
    } else {
      report.fail(id + " ended as " + std::string(to_string(end.status)) + " with " +
                  std::to_string(ends) + " completions of its activity");
    }
  }
  return doubled;
}

double seconds_between(Starts::SteadyTime begin, Starts::SteadyTime end) {
  return std::chrono::duration<double>(end - begin).count();
}

Status measure_recovery(EngineBench& bench) {
  const std::int64_t handlers = bench.options().held.value_or(kHeld);
  Report& report = bench.report();
  report.in_flight = handlers;
  report.processes = 2;
  const Client client = bench.client();
  bench.progress().show("runs are started");
  start_held(client, 0, handlers);
  bench.progress().show("handlers begin in the other process");
  PERDURE_ASSIGN_OR_RETURN(OwnChild holder, start_holder(bench, handlers));

  std::shared_ptr<Provider> store = bench.store();
  if (bench.options().heartbeat_only) store = std::make_shared<HeartbeatOnly>(store);
  const auto heirs = std::make_shared<Gathering>(handlers);
  RuntimeOptions options;
  options.max_concurrent_activities = static_cast<int>(handlers);
  Runtime runtime(std::move(store),
                  held_registry([heirs](ActivityContext& ctx, std::int64_t number) {
                    return heirs->attend(ctx, number);
                  }),
                  options);
  PERDURE_RETURN_IF_ERROR(wait_for_processes(*bench.store(), 2));
  bench.progress().show("the other process is killed");
  const auto killed = kill_at_random(holder, options.process_heartbeat_interval);
  const auto last = heirs->starts().wait_for(handlers, kPatience);
  if (!last) {
    return unavailable("of " + std::to_string(handlers) + " handlers only " +
                       std::to_string(heirs->starts().begun()) + " have begun again");
  }
  report.seconds = seconds_between(killed, *last);
  bench.progress().show("all runs end");
  heirs->let_go();
  const std::int64_t doubled = check_ends(client, handlers, report) + heirs->starts().begun_again();
  if (doubled > 0) report.fail(std::to_string(doubled) + " handlers ran twice after the takeover");
  report.figures.push_back(single("recovered_s", report.seconds));
  report.figures.push_back(count_of_wrong("doubled", doubled));
  Figure first = single("first_recovered_s", seconds_between(killed, *heirs->starts().first_at()));
  first.for_people_only = true;
  report.figures.push_back(std::move(first));
  return {};
}

}  // namespace

Result<Report> run_recovery(const Options& options, Progress& progress) {
  return run_engine_bench("recovery", options, progress, measure_recovery);
}

}  // namespace perdure::bench
