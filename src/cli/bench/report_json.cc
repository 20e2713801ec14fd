#include <cmath>

#include <nlohmann/json.hpp>

#include <perdure/version.h>

#include "cli/bench/report.h"

namespace perdure::bench {

namespace {

using Json = nlohmann::ordered_json;

/// Six digits tell more than any measurement.
double rounded(double number) {
  if (number == 0 || !std::isfinite(number)) return 0;
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(number))));
  return std::round(number * scale) / scale;
}

/// Counts and names lose no digit.
Json shown_as(const Figure& figure, double number) {
  if (figure.total || figure.identity) return Json(static_cast<std::int64_t>(number));
  return Json(rounded(number));
}

template <class Show>
Json by_label(const Figure& figure, const Show& show) {
  if (figure.list) {
    Json numbers = Json::array();
    for (const Figure::Value& value : figure.values) numbers.push_back(show(value));
    return numbers;
  }
  if (figure.values.size() == 1 && figure.values[0].label.empty()) return show(figure.values[0]);
  Json numbers = Json::object();
  for (const Figure::Value& value : figure.values) numbers[value.label] = show(value);
  return numbers;
}

}  // namespace

std::string to_json(const Report& report, int runs) {
  Json all = {{"workload", report.workload},
              {"provider", report.provider},
              {"durability", report.durability},
              {"seconds", rounded(report.seconds)},
              {"in_flight", report.in_flight},
              {"processes", report.processes},
              {"activity_ms", report.activity_ms},
              {"completed", report.completed},
              {"failed", report.failed},
              {"version", kVersionString}};
  Json spread = Json::object();
  for (const Figure& figure : report.figures) {
    if (figure.for_people_only) continue;
    all[figure.key] = by_label(
        figure, [&](const Figure::Value& value) { return shown_as(figure, value.number); });
    spread[figure.key] = by_label(figure, [&](const Figure::Value& value) {
      return Json::array(
          {shown_as(figure, value.spread.least), shown_as(figure, value.spread.most)});
    });
  }
  if (runs > 1) all["spread"] = spread;
  return all.dump();
}

}  // namespace perdure::bench
