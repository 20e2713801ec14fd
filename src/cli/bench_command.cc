#include "cli/bench_command.h"

#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/random.h"
#include "cli/bench/options.h"
#include "cli/bench/workload.h"

namespace perdure::cli {

namespace {

constexpr double kShortestRun = 0.01;
constexpr double kLongestRun = 86'400;
constexpr std::int64_t kFewest = 1;
constexpr std::int64_t kMostInstances = 1'000'000;
constexpr int kMostThreads = 1'024;
constexpr int kMostRepeats = 1'000;
constexpr std::int64_t kMostCounted = 100'000'000;
constexpr std::string_view kTakenByAll =
    "--provider --durability --repeat --keep --json --help --help-all";
constexpr std::int64_t kMostHandlers = 100'000;
constexpr int kMostProcesses = 2;
constexpr std::int64_t kMostSeed = 1'000'000'000;
constexpr int kSlowestSync = 10'000;
constexpr int kLongestActivity = 60'000;

/// What CLI11 fills in.
struct BenchInput {
  std::string workload;
  bench::Options options;
  std::string durability;
  double seconds = 5;
  double warmup = 1;
  int slow_fsync = 0;
  int activity_ms = 0;
  bool json = false;
};

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const bench::Workload& one : bench::workloads()) names.emplace_back(one.name);
  return names;
}

void add_options(CLI::App& command, BenchInput& input) {
  bench::Options& options = input.options;
  command.add_option("workload", input.workload, "What to measure")
      ->required()
      ->check(CLI::IsMember(workload_names()));
  command.add_option("--provider", options.provider, "Store: sqlite:PATH, a file that is made")
      ->required();
  command.add_option("--seconds", input.seconds, "Time of each measurement")
      ->check(CLI::Range(kShortestRun, kLongestRun));
  command.add_option("--warmup", input.warmup, "Time before the first one")
      ->check(CLI::Range(0.0, kLongestRun));
  command.add_option("--in-flight", options.in_flight, "Instances in the loop")
      ->check(CLI::Range(kFewest, kMostInstances));
  command.add_option("--threads", options.threads, "Numbers of threads, as 1,8,64")
      ->delimiter(',')
      ->check(CLI::Range(1, kMostThreads));
  command.add_option("--durability", input.durability, "full or relaxed")
      ->check(CLI::IsMember({"full", "relaxed"}));
  command.add_option("--count", options.count, "How many: rows, steps, sleepers, cancels")
      ->check(CLI::Range(kFewest, kMostCounted));
  command.add_option("--running", options.running, "Handlers that run at a time, to be canceled")
      ->check(CLI::Range(kFewest, kMostHandlers));
  command.add_option("--held", options.held, "Handlers of the process that is killed")
      ->check(CLI::Range(kFewest, kMostHandlers));
  command.add_option("--processes", options.processes, "2: the workers in another process")
      ->check(CLI::Range(1, kMostProcesses));
  command.add_option("--cancels", options.cancels, "Cancels that change something, of a soak")
      ->check(CLI::Range(kFewest, kMostCounted));
  command.add_option("--seed", options.seed, "Of what is random; by default another each time")
      ->check(CLI::Range(std::int64_t{0}, kMostSeed));
  command.add_option("--workers", options.workers, "Activity slots")
      ->check(CLI::Range(kFewest, kMostHandlers));
  command.add_option("--activity-ms", input.activity_ms, "Milliseconds that each activity takes")
      ->check(CLI::Range(0, kLongestActivity));
  command.add_option("--repeat", options.repeat, "Runs; with more than one medians and spread")
      ->check(CLI::Range(1, kMostRepeats));
  command.add_option("--slow-fsync", input.slow_fsync, "Milliseconds that each sync takes longer")
      ->check(CLI::Range(0, kSlowestSync));
  command.add_flag("--heartbeat-only", options.heartbeat_only, "Without the kernel lock");
  command.add_flag("--drop-notifications",
                   options.drop_notifications,
                   "Nothing tells workers of their claims: they ask");
  command.add_flag("--keep", options.keep, "Leave the files");
  command.add_flag("--json", input.json, "Last line of standard output: one JSON object");
}

bool is_word_of(std::string_view words, const std::string& word) {
  return (" " + std::string(words) + " ").find(" " + word + " ") != std::string::npos;
}

void check_least(const char* option, const std::optional<std::int64_t>& given, std::int64_t least) {
  if (given && *given < least) {
    throw CLI::ValidationError(option, "must be at least " + std::to_string(least) + " here");
  }
}

/// An option that would say nothing is a mistake: whoever gave it believes that it was measured.
void check_applies(const CLI::App& command, const BenchInput& input) {
  const bench::Workload& workload = bench::workload(input.workload);
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->empty() || name == "workload" || is_word_of(kTakenByAll, name)) continue;
    if (!is_word_of(workload.takes, name)) {
      throw CLI::ValidationError(name,
                                 "says nothing to the workload " + input.workload +
                                     ", which takes " + std::string(workload.takes));
    }
  }
  check_least("--in-flight", input.options.in_flight, workload.least_in_flight);
  check_least("--count", input.options.count, workload.least_count);
}

Result<bench::Report> run_all(const bench::Workload& workload, const bench::Options& options) {
  bench::Progress progress;
  std::vector<bench::Report> runs;
  SystemRandom random;
  const std::int64_t seed = options.seed.value_or(
      static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(kMostSeed)));
  for (int i = 1; i <= options.repeat; ++i) {
    // Each run begins with stores of its own; those of the last one can be kept.
    bench::Options once = options;
    once.keep = options.keep && i == options.repeat;
    once.seed = seed + i - 1;
    PERDURE_ASSIGN_OR_RETURN(bench::Report run, workload.run(once, progress));
    runs.push_back(std::move(run));
  }
  return bench::merge(runs);
}

int run_bench(BenchInput& input) {
  bench::Options& options = input.options;
  options.seconds = std::chrono::duration<double>(input.seconds);
  options.warmup = std::chrono::duration<double>(input.warmup);
  options.slow_fsync = std::chrono::milliseconds(input.slow_fsync);
  options.activity_time = std::chrono::milliseconds(input.activity_ms);
  if (!input.durability.empty()) options.durability = input.durability;
  const auto report = run_all(bench::workload(input.workload), options);
  if (!report.ok()) {
    std::cerr << "perdure bench: " << report.error().message << '\n';
    return 1;
  }
  (input.json ? std::cerr : std::cout) << bench::to_table(*report, options.repeat);
  if (input.json) std::cout << bench::to_json(*report, options.repeat) << '\n';
  return report->failed == 0 ? 0 : 1;
}

}  // namespace

Command add_bench(CLI::App& app) {
  CLI::App* const command = app.add_subcommand("bench", "Measure a store, and the engine on it");
  auto input = std::make_shared<BenchInput>();
  add_options(*command, *input);
  command->callback([command, input] { check_applies(*command, *input); });
  return [input] { return run_bench(*input); };
}

}  // namespace perdure::cli
