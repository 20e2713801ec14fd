#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include <perdure/detail/op.h>
#include <perdure/detail/run_bytes.h>
#include <perdure/detail/scope_state.h>
#include <perdure/detail/turn_api.h>

namespace perdure::detail {

/// What every coroutine of a run has: who runs it, in which scope, and who waits for it. A task
/// begins without them and gets them from whoever awaits or spawns it. Its frame is counted.
class PromiseBase : public CountsRunBytes {
 public:
  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
      handle.promise().hand_back();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { exception_ = std::current_exception(); }

  /// Queued to run as a part of `caller`, which is resumed when it ends. `frame` is this coroutine,
  /// owned by the await of the caller.
  void start_for(PromiseBase& caller,
                 std::coroutine_handle<>& frame,
                 std::coroutine_handle<> back) {
    api = caller.api;
    scope = caller.scope;
    caller_ = &caller;
    caller.callee_ = this;
    frame_ = &frame;
    back_ = back;
    api->resume_next(frame, *this);
  }
  /// Queued to run by itself; `task` is told when it ends.
  void start_as(TurnApi& engine, ScopeRef home, TaskOp& task, std::coroutine_handle<> frame) {
    api = &engine;
    scope = std::move(home);
    task_ = &task;
    api->resume_later(frame, *this);
  }

  /// Destroys the coroutines that this one waits for, innermost first: without recursion, so that
  /// no depth of calls overflows the stack.
  void destroy_callees() noexcept {
    PromiseBase* last = this;
    while (last->callee_ != nullptr) last = last->callee_;
    while (last != this) {
      PromiseBase* const caller = last->caller_;
      caller->callee_ = nullptr;
      std::exchange(*last->frame_, nullptr).destroy();
      last = caller;
    }
  }

  TurnApi* api = nullptr;
  ScopeRef scope;

 protected:
  PromiseBase() = default;
  ~PromiseBase() = default;
  void rethrow_if_failed() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  void hand_back() noexcept {
    if (caller_ != nullptr) {
      caller_->callee_ = nullptr;
      api->resume_next(back_, *caller_);
    } else if (task_ != nullptr) {
      api->task_ended(*task_);
    }
  }

  PromiseBase* caller_ = nullptr;
  PromiseBase* callee_ = nullptr;
  std::coroutine_handle<>* frame_ = nullptr;  // of the caller's await
  std::coroutine_handle<> back_;
  TaskOp* task_ = nullptr;
  std::exception_ptr exception_;
};

}  // namespace perdure::detail
