#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace perdure::bench {

/// This very program, started once more as another process (executed, not only forked). Its
/// standard input ends when this process does, however that ends, and its standard output is read
/// here. Killed and waited for when this object goes. Threading: one thread.
class OwnChild {
 public:
  /// Unavailable when the system starts none.
  static Result<OwnChild> start(std::vector<std::string> arguments);

  OwnChild(OwnChild&& other) noexcept;
  OwnChild& operator=(OwnChild&&) = delete;
  ~OwnChild();

  /// The next line that it writes, without its end; blocks. Unavailable when it wrote no whole line
  /// and has ended.
  Result<std::string> read_line();

  /// SIGKILL; does not wait.
  void kill();

 private:
  OwnChild(pid_t pid, int input, int output) : pid_(pid), input_(input), output_(output) {}

  pid_t pid_;
  int input_;
  int output_;
};

}  // namespace perdure::bench
