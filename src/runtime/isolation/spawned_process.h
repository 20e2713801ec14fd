#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>

#include "runtime/isolation/descriptor.h"

namespace perdure::runtime {

/// How a process ended.
struct ProcessEnd {
  int signal = 0;     ///< 0: by none
  int exit_code = 0;  ///< when by no signal
  bool known = true;  ///< false: somebody else has waited for it

  /// "by signal 11 (Segmentation fault)", "with exit code 3".
  std::string text() const;
};

/// This program, executed for one attempt, in a process group of its own, and the socket to it.
///
/// Destruction kills it with its group and reaps it, so it leaves neither a process nor a zombie.
/// The kernel kills it when the thread that made it ends: that thread must outlive it, and does,
/// since it destroys it. Threading: one thread.
class SpawnedProcess {
 public:
  /// `name`: its argv[0]. NotStarted, and nothing is left behind, when there is no process or no
  /// descriptor for it.
  explicit SpawnedProcess(const std::string& name);
  SpawnedProcess(const SpawnedProcess&) = delete;
  SpawnedProcess& operator=(const SpawnedProcess&) = delete;
  ~SpawnedProcess();

  pid_t pid() const { return pid_; }
  int socket() const { return socket_.get(); }
  /// A descriptor that is readable when the process has ended.
  int ended() const { return ended_.get(); }
  /// Sends SIGTERM, to it alone.
  void terminate() const;
  /// Waits for its end so long, then kills it; kills what is left of its group, and reaps it.
  /// Later calls answer the same.
  ProcessEnd end(std::chrono::milliseconds patience = {});

 private:
  Descriptor socket_;
  Descriptor ended_;
  pid_t pid_ = -1;
  ProcessEnd end_;
  bool reaped_ = false;
};

}  // namespace perdure::runtime
