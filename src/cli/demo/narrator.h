#pragma once

#include <chrono>
#include <ostream>
#include <stdexcept>
#include <string>

namespace perdure::demo {

/// Nobody can see what is printed any more.
class OutputClosed : public std::runtime_error {
 public:
  OutputClosed() : std::runtime_error("standard output was closed") {}
};

/// Prints what happens, with the time since it was made. On a terminal with colours and a bar for
/// the step that runs; elsewhere plain lines. Everything throws OutputClosed. One thread.
class Narrator {
 public:
  using Clock = std::chrono::steady_clock;

  Narrator(std::ostream& out, bool terminal);
  Narrator(const Narrator&) = delete;
  Narrator& operator=(const Narrator&) = delete;
  /// Takes the bar away.
  ~Narrator();

  void title(const std::string& text);
  void text(const std::string& line);
  /// `who` did or is what `what` says.
  void event(const std::string& who, const std::string& what);
  /// The same, for what the viewer should not miss.
  void alarm(const std::string& who, const std::string& what);
  void success(const std::string& who, const std::string& what);
  /// A line that the next one replaces; nothing where there is no terminal.
  void bar(const std::string& who, const std::string& step, int done, int total);

  /// "4.71 s" since it was made.
  std::string elapsed() const;

 private:
  void line(const std::string& colour, const std::string& text);
  void timed(const std::string& colour, const std::string& who, const std::string& what);
  void flush();

  std::ostream& out_;
  const bool terminal_;
  const Clock::time_point start_;
  bool bar_shown_ = false;
};

/// "212 ms".
std::string milliseconds(Narrator::Clock::duration time);

}  // namespace perdure::demo
