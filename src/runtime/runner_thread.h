#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "base/thread_probe.h"
#include "runtime/code_batch.h"

namespace perdure::runtime {

/// A thread that runs batches of user code, one at a time, for one other thread that waits for
/// them.
///
/// Its thread ends with it, unless it was let go: then it ends when its code returns, which may be
/// never. Ownership: what the thread uses is shared with it. Threading: one thread, that of its
/// owner. A crash loses nothing.
class RunnerThread {
 public:
  /// Throws std::system_error when the system gives no more threads.
  RunnerThread();
  RunnerThread(const RunnerThread&) = delete;
  RunnerThread& operator=(const RunnerThread&) = delete;
  /// Requires: no batch is under way, or it was let go.
  ~RunnerThread();

  /// Requires: the batch before has ended.
  void begin(std::shared_ptr<CodeBatch> batch);
  /// True: the batch has ended, and what its pieces wrote may be read.
  bool wait_until(std::chrono::steady_clock::time_point at);
  /// Requires: a batch has begun on it (`CodeBatch::look`).
  ThreadRef thread() const;

  /// A piece of the batch was abandoned: the thread is left to itself. When the piece returns, it
  /// is discarded there, `on_return` is called there, and the thread ends. `on_return` must not
  /// throw. The thread lives until this is called, whatever its code does.
  void let_go(std::function<void()> on_return);

 private:
  struct State;

  std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace perdure::runtime
