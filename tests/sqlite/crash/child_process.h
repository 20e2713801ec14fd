#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

namespace perdure::sqlite::crash {

/// An executed process. Destruction kills it, if it has not ended, and reaps it.
class ChildProcess {
 public:
  /// `failpoints` becomes its variable PERDURE_FAILPOINTS.
  ChildProcess(const std::string& program,
               std::vector<std::string> arguments,
               const std::string& failpoints);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  /// The state that waitpid saw at its end.
  int wait_for_end();
  /// Waits until it has stopped; throws when it ends instead.
  void wait_for_stop();
  void resume();
  void kill();

 private:
  int wait(int options);

  pid_t pid_ = -1;
};

/// "was ended by SIGKILL", "returned 0": what a state of waitpid says.
std::string describe_end(int state);

}  // namespace perdure::sqlite::crash
