#include "cli/bench_command.h"

#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/bench/options.h"
#include "cli/bench/provider_workload.h"

namespace perdure::cli {

namespace {

constexpr double kShortestRun = 0.01;
constexpr double kLongestRun = 86'400;
constexpr std::int64_t kFewestInstances = 128;
constexpr std::int64_t kMostInstances = 1'000'000;
constexpr int kMostThreads = 1'024;
constexpr int kMostRepeats = 1'000;
constexpr std::int64_t kMostRows = 100'000'000;
constexpr std::int64_t kFewestRows = 4'000;
constexpr int kSlowestSync = 10'000;

/// What CLI11 fills in.
struct Input {
  std::string workload;
  bench::Options options;
  std::string durability;
  double seconds = 5;
  double warmup = 1;
  int slow_fsync = 0;
  bool json = false;
};

void add_options(CLI::App& command, Input& input) {
  bench::Options& options = input.options;
  command.add_option("workload", input.workload, "What to measure: provider")
      ->required()
      ->check(CLI::IsMember({"provider"}));
  command.add_option("--provider", options.provider, "Store: sqlite:PATH, a file that is made")
      ->required();
  command.add_option("--seconds", input.seconds, "Time of each measurement")
      ->check(CLI::Range(kShortestRun, kLongestRun));
  command.add_option("--warmup", input.warmup, "Time before the first one")
      ->check(CLI::Range(0.0, kLongestRun));
  command.add_option("--in-flight", options.in_flight, "Instances in the loop")
      ->check(CLI::Range(kFewestInstances, kMostInstances));
  command.add_option("--threads", options.threads, "Numbers of threads, as 1,8,64")
      ->delimiter(',')
      ->check(CLI::Range(1, kMostThreads));
  command.add_option("--durability", input.durability, "full or relaxed")
      ->check(CLI::IsMember({"full", "relaxed"}));
  command.add_option("--count", options.count, "Rows of the longest queue")
      ->check(CLI::Range(kFewestRows, kMostRows));
  command.add_option("--repeat", options.repeat, "Runs; with more than one medians and spread")
      ->check(CLI::Range(1, kMostRepeats));
  command.add_option("--slow-fsync", input.slow_fsync, "Milliseconds that each sync takes longer")
      ->check(CLI::Range(0, kSlowestSync));
  command.add_flag("--keep", options.keep, "Leave the files");
  command.add_flag("--json", input.json, "Last line of standard output: one JSON object");
}

Result<bench::Report> run_all(const bench::Options& options) {
  bench::Progress progress;
  std::vector<bench::Report> runs;
  for (int i = 1; i <= options.repeat; ++i) {
    // Each run begins with stores of its own; those of the last one can be kept.
    bench::Options once = options;
    once.keep = options.keep && i == options.repeat;
    PERDURE_ASSIGN_OR_RETURN(bench::Report run, bench::run_provider(once, progress));
    runs.push_back(std::move(run));
  }
  return bench::merge(runs);
}

int run_bench(Input& input) {
  bench::Options& options = input.options;
  options.seconds = std::chrono::duration<double>(input.seconds);
  options.warmup = std::chrono::duration<double>(input.warmup);
  options.slow_fsync = std::chrono::milliseconds(input.slow_fsync);
  if (!input.durability.empty()) options.durability = input.durability;
  const auto report = run_all(options);
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
  CLI::App* const command = app.add_subcommand("bench", "Measure a store");
  auto input = std::make_shared<Input>();
  add_options(*command, *input);
  return [input] { return run_bench(*input); };
}

}  // namespace perdure::cli
