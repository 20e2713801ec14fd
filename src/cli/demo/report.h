#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace perdure::demo {

/// What a worker process tells the one that started it, as a line of text through a pipe. A value.
struct Report {
  enum class Kind : std::uint8_t {
    kReady,     ///< the worker runs
    kBegan,     ///< an attempt of a step
    kProgress,  ///< `done` of `total` parts of the attempt
    kDone,      ///< the attempt is about to return; `text` says with what
    kStopped,   ///< the attempt heard of a cancel after `done` of `total`; `text` is the reason
  };

  Kind kind = Kind::kReady;
  std::string order = {};
  std::string step = {};
  int done = 0;
  int total = 0;
  std::string text = {};
};

/// Called by the handlers, from any thread.
using Tell = std::function<void(const Report&)>;

/// One line, without its end. Tabs and line breaks in the texts become spaces.
std::string to_line(const Report& report);
/// The inverse; nothing when the line is none of ours.
std::optional<Report> parse_report(std::string_view line);

}  // namespace perdure::demo
