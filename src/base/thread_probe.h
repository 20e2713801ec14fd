#pragma once

#include <chrono>
#include <optional>
#include <pthread.h>
#include <string>
#include <sys/types.h>

/// What can be learned of a thread from outside.
namespace perdure {

/// A thread of this process.
struct ThreadRef {
  pid_t kernel_id = 0;
  pthread_t thread{};

  static ThreadRef current();
};

/// Where the thread is, a line for each frame, innermost first: the module, the function where it is
/// exported, and an offset that addr2line understands. A sentence instead when it cannot be seen.
///
/// The thread is asked by a realtime signal (`SIGRTMAX - 1`) and answers from its handler: a call
/// that is not restarted after a signal, as poll, ends with EINTR. A program that has a handler of
/// its own for that signal keeps it, and then no stack is seen; nor that of a thread that blocks it
/// (`allow_stacks`). Waits for `patience` when it does not answer, and as long again when it hangs
/// in its answer.
/// Requires: the thread lives until it returns. Threading: any thread but that one.
std::string stack_of(const ThreadRef& thread,
                     std::chrono::milliseconds patience = std::chrono::seconds(1));

/// Lets this thread be asked for its stack, also when it was started with all signals blocked.
void allow_stacks();

/// What a thread has got of the processors since it began.
struct ThreadTimes {
  std::chrono::nanoseconds running{0};
  std::chrono::nanoseconds starved{0};  ///< it could have run, but others did
};

/// Nothing when the system does not tell, or the thread has ended.
std::optional<ThreadTimes> times_of(pid_t kernel_id);

/// Whether a debugger is attached to this process.
bool is_debugged();

}  // namespace perdure
