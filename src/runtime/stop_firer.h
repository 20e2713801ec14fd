#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

#include "runtime/handler_pool.h"

namespace perdure::runtime {

/// Fires the stop tokens of handlers. Callbacks that user code has put on a token run while it
/// fires, and may block: who tells a handler to stop must not wait for that.
/// Threading: any thread.
class StopFirer {
 public:
  StopFirer() = default;
  StopFirer(const StopFirer&) = delete;
  StopFirer& operator=(const StopFirer&) = delete;
  virtual ~StopFirer() = default;

  virtual void fire(std::stop_source source) = 0;
};

/// On the calling thread: for engines that have one thread only.
class DirectFirer final : public StopFirer {
 public:
  void fire(std::stop_source source) override { source.request_stop(); }
};

/// On threads of its own, one token after the other. When no callback has returned for `patience`,
/// other threads go on with the tokens behind: one, then two, four and so on while that goes on. So
/// many callbacks that block delay the others by a few times that, not each by it; they keep their
/// threads until they return. No thread is busy when there is nothing to fire.
///
/// One thread is there from the beginning, in reserve: it takes what could get no other. So when
/// the system gives no more threads, tokens are fired all the same, and never on the thread of the
/// caller, who may hold locks. With the reserve in a callback that blocks, and no other thread to
/// be had, the tokens behind wait: until it returns, or until a thread can be had when the next one
/// comes.
class ThreadedFirer final : public StopFirer {
 public:
  /// Runs a task on a thread, or throws, as HandlerPool::run.
  using Start = std::function<void(std::function<void()> task)>;

  /// `start`: how a thread is got; empty: from a pool of its own. Throws std::system_error when
  /// there is no thread for the reserve.
  explicit ThreadedFirer(std::chrono::milliseconds patience = std::chrono::milliseconds(5),
                         Start start = {});
  /// Callbacks that still block are left to themselves.
  ~ThreadedFirer() override;

  /// Runs callbacks on the calling thread only when there is no memory to keep the token.
  void fire(std::stop_source source) override;

 private:
  struct State;

  HandlerPool pool_;
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive it
  std::thread reserve_;
};

}  // namespace perdure::runtime
