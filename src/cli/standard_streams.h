#pragma once

#include <csignal>

namespace perdure::cli {

/// The standard streams as a command may use them, while one of these lives: none of the three
/// descriptors is free, so that no file of a store gets its number, and writing to a pipe that
/// nobody reads is an error of the stream, not a signal. One at a time; one thread.
class StandardStreams {
 public:
  StandardStreams();
  StandardStreams(const StandardStreams&) = delete;
  StandardStreams& operator=(const StandardStreams&) = delete;
  /// Gives SIGPIPE back to whoever had it.
  ~StandardStreams();

  /// Writes out what is buffered. Answers `code`, or kExitOutput when it would be kExitDone and
  /// something was not written though somebody still listens; that is told on standard error.
  int finish(int code);

 private:
  struct sigaction before_ {};
};

}  // namespace perdure::cli
