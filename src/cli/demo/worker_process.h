#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>

#include "cli/demo/interrupts.h"
#include "cli/demo/report.h"

namespace perdure::demo {

/// A worker: this program, executed anew. Destruction kills it and reaps it; and it dies with this
/// process, also when that is killed. One thread.
class WorkerProcess {
 public:
  /// Its errors and its log go to the end of the file `log`. Throws std::system_error.
  WorkerProcess(const std::string& url, const std::filesystem::path& log, const Interrupts& mine);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  pid_t pid() const { return pid_; }

  /// The next report. Throws Interrupted, and std::runtime_error when the worker has ended by
  /// itself or says nothing for half a minute.
  Report next();

  /// SIGKILL; returns when the kernel has taken it down.
  void kill();
  /// What it had told before it was killed; nothing when all of that was read.
  std::optional<Report> last_words();
  /// SIGTERM; SIGKILL when it has not ended a few seconds later.
  void stop();

 private:
  /// Reads what there is; false when the worker has closed its end. Waits up to `patience` and
  /// throws std::runtime_error then.
  bool read_more(std::chrono::milliseconds patience);
  /// The first line that was read, if a whole one was.
  std::optional<Report> take_line();
  /// How it ended, for people.
  std::string reap();

  const Interrupts& interrupts_;
  int output_ = -1;
  pid_t pid_ = -1;
  bool reaped_ = false;
  std::string unread_;
};

}  // namespace perdure::demo
