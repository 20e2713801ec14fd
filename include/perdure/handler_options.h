#pragma once

#include <cstdint>

namespace perdure {

/// Where the handler of an activity runs.
enum class Isolation : std::uint8_t {
  kThread,   ///< on a thread of the worker: cheap, and never killed
  kProcess,  ///< in a process of its own for each attempt, which can be killed: see isolation.h
};

/// What is said of a handler when it is registered. A value.
struct HandlerOptions {
  Isolation isolation = Isolation::kThread;
  /// Blocking system calls of the handler may be ended with EINTR when it was told to stop:
  /// `zombie_retry_interval` later and again after twice, four times as long and so on; with a
  /// process of its own at once. Without it that may happen once, when the stack of a zombie is
  /// looked at.
  bool interruptible = false;

  bool operator==(const HandlerOptions&) const = default;
};

}  // namespace perdure
