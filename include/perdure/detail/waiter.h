#pragma once

#include <coroutine>
#include <stdexcept>
#include <utility>

#include <perdure/detail/list.h>
#include <perdure/detail/op.h>
#include <perdure/detail/promise_base.h>
#include <perdure/detail/turn_api.h>
#include <perdure/errors.h>

namespace perdure::detail {

/// A suspended await. Lives in the frame of the coroutine that waits; leaves its scope and its
/// operations when that frame is destroyed.
class Waiter : public ListHook {
 public:
  explicit Waiter(PromiseBase& promise) : promise_(promise) {}
  virtual ~Waiter() = default;

  /// An operation that it waits for has been resolved.
  virtual void op_resolved(Op& op) = 0;
  /// True: the scope's cancel leaves it alone, since all it waits for has `on_cancel = wait`.
  virtual bool outlasts_cancel() const = 0;

  /// The scope was canceled: the await ends with `Canceled`.
  void interrupt() {
    interrupted_ = true;
    wake();
  }

 protected:
  /// True when the await ends at once because its scope is canceled.
  bool canceled_before() {
    if (!promise_.scope->canceled || outlasts_cancel()) return false;
    interrupted_ = true;
    return true;
  }
  bool stopped() const { return promise_.api->stopped(); }
  bool interrupted() const { return interrupted_; }
  void throw_if_interrupted() const {
    if (interrupted_) throw Canceled(promise_.scope->reason);
  }
  const std::string& cancel_reason() const { return promise_.scope->reason; }

  /// Becomes the one that `op` tells of its outcome.
  void claim(Op& op) {
    if (op.waiter != nullptr) {
      throw std::logic_error("perdure: a future is awaited at two places at once");
    }
    op.waiter = this;
  }

  void suspend(std::coroutine_handle<> handle) {
    handle_ = handle;
    join(promise_.scope->waiters);
  }
  /// At most once for each suspension.
  void wake() {
    if (!handle_) return;
    leave();
    promise_.api->resume_later(std::exchange(handle_, nullptr), promise_);
  }

 private:
  PromiseBase& promise_;
  std::coroutine_handle<> handle_;
  bool interrupted_ = false;
};

/// What an await waits for; std::logic_error when the future stands for nothing any more.
inline OpRef awaited(const OpRef& op) {
  if (!op) throw std::logic_error("perdure: this future was moved from or detached");
  return op;
}

/// Waits for one operation.
class OpWaiter : public Waiter {
 public:
  OpWaiter(PromiseBase& promise, const OpRef& op) : Waiter(promise), op_(awaited(op)) {}
  ~OpWaiter() override {
    if (op_ && op_->waiter == this) op_->waiter = nullptr;
  }

  bool await_ready() { return !stopped() && (canceled_before() || op_->resolved()); }
  void await_suspend(std::coroutine_handle<> handle) {
    if (stopped()) return;
    claim(*op_);
    suspend(handle);
  }

  void op_resolved(Op&) override { wake(); }
  bool outlasts_cancel() const override { return op_->on_cancel == OnCancel::kWait; }

 protected:
  OpRef op_;
};

}  // namespace perdure::detail
