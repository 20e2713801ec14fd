#include <array>

#include "cli/bench/provider_parts.h"

namespace perdure::bench {

namespace {

constexpr std::array<std::size_t, 4> kBatches{1, 8, 32, 128};

/// Numbers of the windows of one batch size.
struct Windows {
  std::vector<double> turns;
  std::vector<double> claims;
  std::vector<double> limit;
  std::vector<double> ratio;
};

Status warm_up(ProviderBench& bench, TurnLoop& loop, sqlite::TurnLimit& limit) {
  bench.progress.show("warming up");
  const auto length = warmup(bench.options);
  Report& report = bench.report;
  const double seconds = report.seconds;
  const std::int64_t completed = report.completed;
  PERDURE_RETURN_IF_ERROR(loop.run(in_batches(loop, kBatches.back()), kBatches.back(), length));
  PERDURE_RETURN_IF_ERROR(limit.run(kBatches.back(), length));
  report.seconds = seconds;
  report.completed = completed;
  return {};
}

Result<Windows> measure(ProviderBench& bench,
                        TurnLoop& loop,
                        sqlite::TurnLimit& limit,
                        std::size_t batch) {
  Windows windows;
  for (int i = 0; i < kWindows; ++i) {
    bench.progress.show("batches of " + std::to_string(batch) + ", window " +
                        std::to_string(i + 1) + " of " + std::to_string(kWindows));
    PERDURE_ASSIGN_OR_RETURN(const auto found,
                             loop.run(in_batches(loop, batch), batch, bench.window()));
    PERDURE_ASSIGN_OR_RETURN(const double most,
                             limit.run(static_cast<std::int64_t>(batch), bench.window()));
    windows.turns.push_back(found.turns.per_second());
    windows.claims.push_back(found.claims.per_second());
    windows.limit.push_back(most);
    windows.ratio.push_back(found.turns.per_second() / most);
  }
  return windows;
}

}  // namespace

Status measure_batches(ProviderBench& bench, TurnLoop& loop, sqlite::TurnLimit& limit) {
  Figure turns{.key = "turns_per_s"};
  Figure claims{.key = "claims_per_s"};
  Figure most{.key = "limit_turns_per_s"};
  double ratio = 0;
  PERDURE_RETURN_IF_ERROR(warm_up(bench, loop, limit));
  for (const std::size_t batch : kBatches) {
    PERDURE_ASSIGN_OR_RETURN(const Windows windows, measure(bench, loop, limit, batch));
    const std::string label = std::to_string(batch);
    turns.values.push_back({label, median(windows.turns)});
    claims.values.push_back({label, median(windows.claims)});
    most.values.push_back({label, median(windows.limit)});
    ratio = median(windows.ratio);
  }
  for (Figure& figure : std::array{turns, claims, most}) bench.report.figures.push_back(figure);
  bench.report.figures.push_back(single("ratio_to_limit", ratio));
  return {};
}

}  // namespace perdure::bench
