#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace perdure::runtime {

/// Threads for handlers, as many as there are tasks: blocking in a handler is normal. A thread that
/// has nothing to do waits for the next task and ends after a while. There are never more threads
/// than there have been tasks at a time, those in their `after` not counted, however late the
/// system lets a new thread begin.
///
/// A task that never ends keeps its thread: `close` leaves it to itself, so a task must own all
/// that it touches. Thread-locals are not clean between tasks.
/// Threading: any thread.
class HandlerPool {
 public:
  /// How long a thread waits for its next task.
  explicit HandlerPool(std::chrono::milliseconds idle_for = std::chrono::seconds(10));
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;
  /// `close` with no time left.
  ~HandlerPool();

  /// Runs the task on a thread of its own, at most an `after` later, and `after` behind it on the same thread.
  /// Neither must throw. A task may last for ever; `after` ends by itself, and `close` waits for
  /// it. Throws std::system_error, and runs neither, when the system gives no more threads.
  void run(std::function<void()> task, std::function<void()> after = {});

  /// Waits for tasks that run until `until`; then ends the threads that are free and leaves the
  /// others to themselves. Answers how many those are. `run` must not be called any more.
  std::size_t close(std::chrono::steady_clock::time_point until);

  std::size_t threads() const;

 private:
  struct State;

  std::shared_ptr<State> state_;  // shared with the threads, which may outlive the pool
};

}  // namespace perdure::runtime
