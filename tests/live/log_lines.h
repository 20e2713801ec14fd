#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/guarded.h"
#include "base/log.h"

namespace perdure::test {

/// What is logged while it lives, instead of to stderr. Threading: any thread.
class LogLines {
 public:
  LogLines() {
    log::set_sink([this](log::Level level, std::string_view line) {
      lines_.with([&](std::vector<Line>& lines) { lines.push_back({level, std::string(line)}); });
    });
  }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  ~LogLines() { log::set_sink({}); }

  /// Lines of that level with this text in them.
  int count(log::Level level, std::string_view text) const {
    return lines_.with([&](const std::vector<Line>& lines) {
      int found = 0;
      for (const Line& each : lines) {
        if (each.level == level && each.text.find(text) != std::string::npos) ++found;
      }
      return found;
    });
  }

 private:
  struct Line {
    log::Level level;
    std::string text;
  };

  Guarded<std::vector<Line>> lines_;
};

}  // namespace perdure::test
