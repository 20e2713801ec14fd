#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

namespace perdure::test {

/// An executed process whose standard output is read here; its errors go where ours go.
/// Destruction kills it, if it has not ended, and reaps it. Everything that waits throws
/// std::runtime_error when a minute was not enough, and kills it then. One thread.
class Child {
 public:
  /// `failpoints` becomes its variable PERDURE_FAILPOINTS.
  explicit Child(const std::string& program,
                 std::vector<std::string> arguments = {},
                 const std::string& failpoints = {});
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  void send(int signal);
  /// Until it has handlers for SIGINT and SIGTERM.
  void wait_for_handlers();
  /// The next line that it prints, without its end; "" when there is none and it has closed its
  /// output.
  std::string line();
  /// "returned 0", "was ended by SIGKILL": how it ended.
  std::string end();
  bool has_ended();
  /// Until SIGSTOP, whoever sent it, has stopped all of its threads.
  void wait_for_stop();

 private:
  /// False: the bound has passed.
  bool wait(int options, std::chrono::milliseconds bound);

  pid_t pid_ = -1;
  int output_ = -1;
  int state_ = 0;
  std::string unread_;
};

}  // namespace perdure::test
