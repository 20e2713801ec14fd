#pragma once

#include <functional>
#include <string>

#include <perdure/health.h>

namespace perdure {

/// What a program wants to hear of its runtime. Called on threads of the runtime; each may be empty.
struct RuntimeHooks {
  /// The worker of a queue has come to another status. An exception at `kStarting` is the way to say
  /// that this queue cannot be served here (no device, no licence): its worker is `kFailed` with
  /// that text, and the others run. Elsewhere it is logged.
  std::function<void(const WorkerHealth&)> on_worker_status = {};
  /// In place of the end of the process with code 1, `force_exit_timeout` after `max_zombie_count`
  /// was reached. By then the runtime has stopped, or hangs in it. It must not destroy the runtime;
  /// when it throws, the process ends after all.
  std::function<void(const std::string& why)> on_fatal = {};
};

}  // namespace perdure
