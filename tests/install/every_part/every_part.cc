// Links something of every part of the installed library, with every installed header in sight.
#include <chrono>
#include <every_header.h>
#include <iostream>

namespace pd = perdure;
using namespace std::chrono_literals;

inline constexpr pd::Orchestration<int(int)> doubled{"doubled"};

static pd::Task<int> run_doubled(pd::OrchestrationContext& ctx, int value) {
  co_await ctx.timer(24h);
  co_return 2 * value;
}

int main(int argc, char** argv) {
  pd::Registry registry;
  registry.add(doubled, run_doubled);
  pd::isolated_main(argc, argv, registry);
  if (argc == 2) return pd::cli_main(argc, argv, registry);
  if (argc == 3) {
    pd::Runtime runtime(pd::open(argv[1]), registry);
    return pd::run_until_signal(runtime);
  }

  pd::testing::TestRuntime runtime(registry);
  auto run = runtime.start(doubled, "run-1", 21);
  runtime.run_until_idle();
  runtime.advance(24h);
  const int result = run.result();
  const pd::ReplayReport report = pd::Replayer(registry).check(runtime.history_json("run-1"));
  std::cout << pd::kVersionString << ' ' << result << ' ' << (report.ok ? "replays" : "differs")
            << '\n';
  return 0;
}
