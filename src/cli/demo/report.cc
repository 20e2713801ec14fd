#include "cli/demo/report.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace perdure::demo {

namespace {

constexpr std::array<std::string_view, 5> kKinds = {
    "ready", "began", "progress", "done", "stopped"};
constexpr std::size_t kFields = 6;

std::string plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

bool read(std::string_view text, int& number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && at == end;
}

}  // namespace

std::string to_line(const Report& report) {
  return std::string(kKinds.at(static_cast<std::size_t>(report.kind))) + '\t' +
         plain(report.order) + '\t' + plain(report.step) + '\t' + std::to_string(report.done) +
         '\t' + std::to_string(report.total) + '\t' + plain(report.text);
}

std::optional<Report> parse_report(std::string_view line) {
  const std::vector<std::string_view> fields = split(line);
  if (fields.size() != kFields) return std::nullopt;
  const auto* const kind = std::find(kKinds.begin(), kKinds.end(), fields[0]);
  Report report{.order = std::string(fields[1]),
                .step = std::string(fields[2]),
                .text = std::string(fields[5])};
  if (kind == kKinds.end() || !read(fields[3], report.done) || !read(fields[4], report.total)) {
    return std::nullopt;
  }
  report.kind = static_cast<Report::Kind>(kind - kKinds.begin());
  return report;
}

}  // namespace perdure::demo
