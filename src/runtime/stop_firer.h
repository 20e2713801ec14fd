#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

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
class ThreadedFirer final : public StopFirer {
 public:
  explicit ThreadedFirer(std::chrono::milliseconds patience = std::chrono::milliseconds(5));
  /// Callbacks that still block are left to themselves.
  ~ThreadedFirer() override;

  /// Without a thread to be had the token is fired on the calling thread.
  void fire(std::stop_source source) override;

 private:
  struct State;

  HandlerPool pool_;
  std::shared_ptr<State> state_;  // shared with the threads, which may outlive it
};

}  // namespace perdure::runtime
