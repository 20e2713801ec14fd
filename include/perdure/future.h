#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include <perdure/detail/condition_op.h>
#include <perdure/detail/task_op.h>
#include <perdure/detail/use_it.h>
#include <perdure/detail/user_error.h>
#include <perdure/detail/waiter.h>
#include <perdure/errors.h>
#include <perdure/outcome.h>

namespace perdure {

namespace detail {

/// Reads the value out of a completed operation.
template <class T>
using Take = Stored<T> (*)(Op&);

/// A task's value can be read again and again, as that of a call can; one that cannot be copied
/// once.
template <class T>
Stored<T> take_task(Op& op) {
  auto& value = static_cast<TypedTaskOp<T>&>(op).value;
  if constexpr (std::is_copy_constructible_v<Stored<T>>) {
    return *value;
  } else {
    if (!value) throw std::logic_error("perdure: the value of this future was taken before");
    return *std::exchange(value, std::nullopt);
  }
}
inline Nothing take_nothing(Op&) {
  return {};
}

/// The exception of user code that an operation failed with; null when it has none.
inline std::exception_ptr error_of(const Op& op) {
  if (op.kind == OpKind::kTask) return static_cast<const TaskOp&>(op).error;
  if (op.kind == OpKind::kCondition) return static_cast<const ConditionOp&>(op).error;
  return nullptr;
}

inline void throw_unless_completed(Op& op) {
  if (op.state == OpState::kCompleted) return;
  if (op.state == OpState::kCanceled) throw Canceled(op.outcome().reason);
  if (const std::exception_ptr error = error_of(op)) std::rethrow_exception(error);
  if (op.kind == OpKind::kChild) throw ChildFailed(op.name, op.outcome().failure);
  throw ActivityFailed(op.name, op.outcome().failure);
}

template <class T>
T value_of(Op& op, Take<T> take) {
  op.consumed = true;
  throw_unless_completed(op);
  if constexpr (std::is_void_v<T>) {
    take(op);
  } else {
    return take(op);
  }
}

template <class T>
Outcome<T> outcome_of(Op& op, Take<T> take) {
  op.consumed = true;
  if (op.state == OpState::kCanceled) return Outcome<T>::canceled(op.outcome().reason);
  if (op.state == OpState::kFailed) {
    if (const std::exception_ptr error = error_of(op)) return Outcome<T>::failed(failure_of(error));
    return Outcome<T>::failed(op.outcome().failure);
  }
  try {
    return Outcome<T>::completed(take(op));
  } catch (const Failed& bad_result) {
    return Outcome<T>::failed(bad_result.failure());
  }
}

template <class T>
class FutureAwaiter final : public OpWaiter {
 public:
  FutureAwaiter(PromiseBase& promise, const OpRef& op, Take<T> take)
      : OpWaiter(promise, op), take_(take) {}
  T await_resume() {
    throw_if_interrupted();
    return value_of<T>(*op_, take_);
  }

 private:
  Take<T> take_;
};

template <class T>
class OutcomeAwaiter final : public OpWaiter {
 public:
  OutcomeAwaiter(PromiseBase& promise, const OpRef& op, Take<T> take)
      : OpWaiter(promise, op), take_(take) {}
  Outcome<T> await_resume() {
    if (interrupted()) return Outcome<T>::canceled(cancel_reason());
    return outcome_of<T>(*op_, take_);
  }

 private:
  Take<T> take_;
};

/// What `future.outcome()` gives to `co_await`.
template <class T>
class PERDURE_DETAIL_USE_IT("co_await the outcome") OutcomeOf {
 public:
  using PerdureAwaitable = void;
  OutcomeOf(OpRef op, Take<T> take) : op_(std::move(op)), take_(take) {}
  auto awaiter(PromiseBase& promise) { return OutcomeAwaiter<T>(promise, op_, take_); }

 private:
  OpRef op_;
  Take<T> take_;
};

}  // namespace detail

/// The outcome of a call, timer, wait or spawned task that has been started. Await it (`co_await f`
/// throws `CallFailed`, `Canceled` or what the task threw; `co_await f.outcome()` does not), hand
/// it to `when_all` or `when_any`, or keep it for later.
///
/// **Destroying a future that is pending cancels what it stands for**, in the same commit: the work
/// row or timer goes, a child or spawned task is canceled, a wait for an event is given up and
/// leaves the event for the next one. `detach()` gives up the handle alone.
///
/// One thread: that of the turn. At most one await at a time.
template <class T>
class PERDURE_DETAIL_USE_IT(
    "a future that is dropped cancels what it stands for: await it, keep it, or detach() it")
    Future {
 public:
  using PerdureAwaitable = void;
  using value_type = T;

  Future(detail::OpRef of, detail::Take<T> reader) : op_(std::move(of)), take_(reader) {}
  Future(const Future&) = delete;             // perdure: a future has one owner: std::move it
  Future& operator=(const Future&) = delete;  // perdure: a future has one owner: std::move it
  Future(Future&& other) noexcept = default;
  Future& operator=(Future&& other) noexcept {
    if (this != &other) {
      drop();
      op_ = std::move(other.op_);
      take_ = other.take_;
    }
    return *this;
  }
  ~Future() { drop(); }

  /// True when the outcome is there: `get()` and `co_await` do not wait.
  bool ready() const { return op_ && op_->resolved(); }

  /// The value, or the exception that `co_await` would throw. Requires: ready.
  T get() {
    if (!ready()) throw std::logic_error("perdure: Future::get() before it is ready: co_await it");
    return detail::value_of<T>(*op_, take_);
  }

  /// The outcome as a value, for `co_await`.
  detail::OutcomeOf<T> outcome() { return detail::OutcomeOf<T>(op_, take_); }

  /// Lets it go on without this handle: nothing is canceled, its outcome is recorded and ignored.
  void detach() {
    if (op_) op_->api->detach(*op_);
    op_ = {};
  }

  /// For the engine's own awaits.
  auto awaiter(detail::PromiseBase& promise) {
    return detail::FutureAwaiter<T>(promise, op_, take_);
  }
  const detail::OpRef& op() const { return op_; }
  detail::Take<T> take() const { return take_; }

 private:
  void drop() noexcept {
    if (op_) op_->api->drop(*op_);
    op_ = {};
  }

  detail::OpRef op_;
  detail::Take<T> take_;
};

}  // namespace perdure
