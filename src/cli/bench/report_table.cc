#include <array>
#include <cmath>
#include <cstdio>

#include "cli/bench/report.h"

namespace perdure::bench {

namespace {

constexpr std::size_t kKeyWidth = 28;

/// Thousands apart.
std::string with_decimals(double number, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  std::string digits = text.data();
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t at = point; at > 3 && digits[at - 4] != '-';) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

/// Three digits that matter.
std::string shown(double number) {
  const double size = std::abs(number);
  return with_decimals(number,
                       size >= 100 || size == 0 ? 0 : (size >= 10 ? 1 : (size >= 1 ? 2 : 3)));
}

std::string shown(std::int64_t count) {
  return with_decimals(static_cast<double>(count), 0);
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

/// A name must be as somebody would type it.
std::string shown(const Figure& figure, double number) {
  if (figure.identity) return std::to_string(static_cast<std::int64_t>(number));
  return figure.total ? shown(static_cast<std::int64_t>(number)) : shown(number);
}

std::string line_of(const Figure& figure, int runs) {
  std::string line = padded(figure.key, kKeyWidth);
  for (const Figure::Value& value : figure.values) {
    std::string cell = value.label.empty() ? "" : value.label + ": ";
    cell += shown(figure, value.number);
    if (runs > 1) {
      cell +=
          " (" + shown(figure, value.spread.least) + ".." + shown(figure, value.spread.most) + ")";
    }
    line += padded(cell, 16) + "  ";
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string to_table(const Report& report, int runs) {
  std::string table = report.workload + " on " + report.provider + ", durability " +
                      report.durability + ", measured " + shown(report.seconds) + " s" +
                      (runs > 1 ? ", medians of " + std::to_string(runs) + " runs" : "") + "\n";
  for (const Figure& figure : report.figures) table += line_of(figure, runs);
  table += padded("completed", kKeyWidth) + shown(report.completed) + "\n";
  table += padded("failed", kKeyWidth) + shown(report.failed) + "\n";
  for (const std::string& problem : report.problems) table += "  wrong: " + problem + "\n";
  return table;
}

}  // namespace perdure::bench
