#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// What a workload found.
namespace perdure::bench {

/// One key of the output: a number, or numbers by label in the order in which they are shown, or a
/// list of numbers.
struct Figure {
  /// Ends of what the repetitions gave.
  struct Spread {
    double least = 0;
    double most = 0;
  };
  struct Value {
    std::string label;  ///< empty: the figure is this one number
    double number = 0;
    Spread spread{};
  };

  std::string key;
  std::vector<Value> values;
  bool list = false;             ///< the values have no labels and are an array of the JSON object
  bool total = false;            ///< a count: of several runs the sum, not the median
  bool identity = false;         ///< a name that is a whole number: of several runs the first
  bool for_people_only = false;  ///< shown in the table, no key of the JSON object
};

Figure single(std::string key, double number);
/// Shown with all its digits.
Figure exact_count(std::string key, std::int64_t number);
Figure identity(std::string key, std::int64_t number);
/// A count of wrong things, which no median may hide.
Figure count_of_wrong(std::string key, std::int64_t number);

/// What every workload tells, and its own figures.
struct Report {
  std::string workload;
  std::string provider;
  std::string durability;  ///< read back from the store
  double seconds = 0;      ///< measured
  std::int64_t in_flight = 0;
  std::int64_t processes = 1;
  std::int64_t activity_ms = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;  ///< results that were wrong
  std::vector<std::string> problems;
  std::vector<Figure> figures;

  /// Counts a wrong result and keeps the first ones to show.
  void fail(const std::string& problem);
};

/// One report of several runs of the same workload: medians and their spread; time, completed and
/// failed are added up. Requires: at least one, all with the same figures.
Report merge(const std::vector<Report>& runs);

/// One line, an object with the keys of docs/bench.md; `spread` is among them when `runs` > 1.
std::string to_json(const Report& report, int runs);

/// Lines for people.
std::string to_table(const Report& report, int runs);

}  // namespace perdure::bench
