#include "cli/demo/narrator.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/clock.h"

namespace perdure::demo {

namespace {

constexpr const char* kEraseLine = "\r\x1b[K";
constexpr const char* kReset = "\x1b[0m";
constexpr const char* kPlain = "";
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kRed = "\x1b[1;31m";
constexpr const char* kGreen = "\x1b[1;32m";
constexpr const char* kDim = "\x1b[2m";
constexpr std::size_t kWhoWidth = 16;
constexpr std::size_t kTimeWidth = 9;
constexpr std::size_t kStepWidth = 7;

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

}  // namespace

std::string milliseconds(Narrator::Clock::duration time) {
  const auto rounded = std::chrono::round<std::chrono::milliseconds>(time).count();
  return rounded == 0 ? "less than 1 ms" : std::to_string(rounded) + " ms";
}

Narrator::Narrator(std::ostream& out, bool terminal)
    : out_(out), terminal_(terminal), start_(steady_now()) {}

Narrator::~Narrator() {
  if (bar_shown_) out_ << kEraseLine << std::flush;
}

std::string Narrator::elapsed() const {
  std::array<char, 32> text{};
  const std::chrono::duration<double> seconds = steady_now() - start_;
  std::snprintf(text.data(), text.size(), "%.2f s", seconds.count());
  return text.data();
}

void Narrator::flush() {
  out_.flush();
  if (!out_) throw OutputClosed();
}

void Narrator::line(const std::string& colour, const std::string& text) {
  if (bar_shown_) out_ << kEraseLine;
  bar_shown_ = false;
  const bool coloured = terminal_ && !colour.empty();
  out_ << (coloured ? colour : "") << text << (coloured ? kReset : "") << '\n';
  flush();
}

void Narrator::timed(const std::string& colour, const std::string& who, const std::string& what) {
  const std::string time = elapsed();
  line(colour,
       padded("", kTimeWidth - std::min(kTimeWidth, time.size())) + time + "  " +
           padded(who, kWhoWidth) + what);
}

void Narrator::title(const std::string& text) {
  line(kBold, text);
}

void Narrator::text(const std::string& text) {
  line(kPlain, text);
}

void Narrator::event(const std::string& who, const std::string& what) {
  timed(kPlain, who, what);
}

void Narrator::alarm(const std::string& who, const std::string& what) {
  timed(kRed, who, what);
}

void Narrator::success(const std::string& who, const std::string& what) {
  timed(kGreen, who, what);
}

void Narrator::bar(const std::string& who, const std::string& step, int done, int total) {
  if (!terminal_) return;
  const std::string time = elapsed();
  const auto filled = static_cast<std::size_t>(done);
  const auto empty = static_cast<std::size_t>(total - done);
  out_ << kEraseLine << padded("", kTimeWidth - std::min(kTimeWidth, time.size())) << time << "  "
       << padded(who, kWhoWidth) << padded(step, kStepWidth) << kDim << '['
       << std::string(filled, '#') << std::string(empty, '.') << ']' << kReset;
  bar_shown_ = true;
  flush();
}

}  // namespace perdure::demo
