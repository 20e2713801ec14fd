#include "cli/bench/report.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "cli/bench/rate.h"

namespace perdure::bench {

namespace {

constexpr std::size_t kProblemsShown = 10;

Figure merged(const std::vector<Report>& runs, std::size_t figure) {
  Figure result = runs.front().figures[figure];
  for (std::size_t i = 0; i < result.values.size(); ++i) {
    std::vector<double> numbers;
    for (const Report& run : runs) {
      PERDURE_CHECK(run.figures.at(figure).values.at(i).label == result.values[i].label,
                    "runs of one workload have the same figures");
      numbers.push_back(run.figures[figure].values[i].number);
    }
    const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
    result.values[i].spread = {*least, *most};
    if (result.identity) continue;
    result.values[i].number =
        result.total ? std::accumulate(numbers.begin(), numbers.end(), 0.0) : median(numbers);
  }
  return result;
}

}  // namespace

Figure single(std::string key, double number) {
  return {.key = std::move(key), .values = {{.label = "", .number = number}}};
}

Figure exact_count(std::string key, std::int64_t number) {
  Figure figure = single(std::move(key), static_cast<double>(number));
  figure.total = true;
  return figure;
}

Figure count_of_wrong(std::string key, std::int64_t number) {
  return exact_count(std::move(key), number);
}

Figure identity(std::string key, std::int64_t number) {
  Figure figure = single(std::move(key), static_cast<double>(number));
  figure.identity = true;
  return figure;
}

void Report::fail(const std::string& problem) {
  ++failed;
  if (problems.size() < kProblemsShown) problems.push_back(problem);
}

Report merge(const std::vector<Report>& runs) {
  PERDURE_CHECK(!runs.empty(), "at least one run");
  Report result = runs.front();
  for (std::size_t run = 1; run < runs.size(); ++run) {
    result.seconds += runs[run].seconds;
    result.completed += runs[run].completed;
    result.failed += runs[run].failed;
    result.problems.insert(
        result.problems.end(), runs[run].problems.begin(), runs[run].problems.end());
  }
  for (std::size_t figure = 0; figure < result.figures.size(); ++figure) {
    result.figures[figure] = merged(runs, figure);
  }
  return result;
}

}  // namespace perdure::bench
