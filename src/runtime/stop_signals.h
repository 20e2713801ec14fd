#pragma once

#include <csignal>
#include <functional>

#include <perdure/time.h>

namespace perdure::runtime {

/// Hears SIGINT and SIGTERM for as long as it lives, in place of the process's own handlers. The
/// first signal ends every `wait`, now and later; the next one ends the process with 128 + its
/// number, as long as anybody listens. In the thread that made it both signals are unblocked.
///
/// Several may live at a time and hear the same signal; the former handlers are back when the last
/// of them has gone. Threading: one thread, made and destroyed there.
class StopSignals {
 public:
  /// std::system_error when no descriptor is left.
  StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  /// Blocks until a signal has come; answers its number.
  int wait();

 private:
  sigset_t former_mask_;
};

/// What `run_until_signal` does, for anything that can be stopped. The process ends when `stop` has
/// not returned `force_exit_timeout` after the signal; zero: no limit.
int run_until_stop_signal(const std::function<void()>& stop, Duration force_exit_timeout);

}  // namespace perdure::runtime
