#include <array>
#include <cmath>
#include <cstdio>

#include "cli/bench/report.h"

namespace perdure::bench {

namespace {

constexpr std::size_t kKeyWidth = 26;

/// Three digits that matter; thousands apart.
std::string shown(double number) {
  std::array<char, 64> text{};
  const double size = std::abs(number);
  const int decimals = size >= 100 || size == 0 ? 0 : (size >= 10 ? 1 : (size >= 1 ? 2 : 3));
  std::snprintf(text.data(), text.size(), "%.*f", decimals, number);
  std::string digits = text.data();
  const std::size_t point = std::min(digits.find('.'), digits.size());
  for (std::size_t at = point; at > 3 && digits[at - 4] != '-';) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string line_of(const Figure& figure, int runs) {
  std::string line = padded(figure.key, kKeyWidth);
  for (const Figure::Value& value : figure.values) {
    std::string cell = value.label.empty() ? "" : value.label + ": ";
    cell += shown(value.number);
    if (runs > 1) cell += " (" + shown(value.spread.least) + ".." + shown(value.spread.most) + ")";
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
  table += padded("completed", kKeyWidth) + shown(static_cast<double>(report.completed)) + "\n";
  table += padded("failed", kKeyWidth) + shown(static_cast<double>(report.failed)) + "\n";
  for (const std::string& problem : report.problems) table += "  wrong: " + problem + "\n";
  return table;
}

}  // namespace perdure::bench
