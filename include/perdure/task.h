#pragma once

#include <coroutine>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <perdure/detail/promise_base.h>
#include <perdure/detail/use_it.h>
#include <perdure/outcome.h>

namespace perdure {

namespace detail {

/// True for what an orchestration may await.
template <class A>
concept Awaitable = requires {
  typename std::remove_cvref_t<A>::PerdureAwaitable;
};

/// The part of a task's promise that decides what can be awaited in it.
class TaskPromise : public PromiseBase {
 public:
  template <class A>
  decltype(auto) await_transform(A&& awaitable) {
    static_assert(
        Awaitable<A>,
        "perdure: an orchestration can await only what Perdure gives it (a Future, a Task, "
        "when_all, when_any, ..): put foreign asynchronous work into an activity");
    if constexpr (Awaitable<A>) return std::forward<A>(awaitable).awaiter(*this);
  }
};

template <class T>
class ValuePromise : public TaskPromise {
 public:
  template <class U>
  requires std::convertible_to<U&&, T>
  void return_value(U&& value) { value_.emplace(std::forward<U>(value)); }
  T take() {
    rethrow_if_failed();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class ValuePromise<void> : public TaskPromise {
 public:
  void return_void() const noexcept {}
  void take() { rethrow_if_failed(); }
};

}  // namespace detail

/// A part of an orchestration, written as a coroutine. Nothing runs before it is awaited (once, as
/// an rvalue: `co_await step(ctx)` or `co_await std::move(task)`), spawned or shielded. Awaiting it
/// is a function call: it runs in the scope of the caller, its value or exception comes back.
///
/// Ownership: the frame belongs to this object and is destroyed with it. One thread: that of the
/// turn; which thread that is may change from turn to turn.
template <class T>
class PERDURE_DETAIL_USE_IT("a task runs when it is awaited, spawned or shielded") Task {
 public:
  using PerdureAwaitable = void;

  class promise_type : public detail::ValuePromise<T> {
   public:
    Task get_return_object() { return Task(Handle::from_promise(*this)); }
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  /// For the engine: runs it by itself; `task` is told when it ends.
  void start_as(detail::TurnApi& engine, detail::ScopeRef scope, detail::TaskOp& task) {
    frame_.promise().start_as(engine, std::move(scope), task, frame_);
  }

  /// For the engine: destroys what the task waits for inside, before the task itself goes.
  void destroy_callees() noexcept {
    if (frame_) frame_.promise().destroy_callees();
  }

  /// Owns the frame while it is awaited.
  class Awaiter {
   public:
    Awaiter(Handle callee, detail::PromiseBase& caller)
        : frame_(callee), callee_(callee.promise()), caller_(caller) {}
    Awaiter(const Awaiter&) = delete;
    Awaiter& operator=(const Awaiter&) = delete;
    ~Awaiter() {
      if (frame_) frame_.destroy();
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> back) {
      if (!caller_.api->stopped()) callee_.start_for(caller_, frame_, back);
    }
    T await_resume() { return callee_.take(); }

   private:
    std::coroutine_handle<> frame_;
    promise_type& callee_;
    detail::PromiseBase& caller_;
  };

  /// std::logic_error when the task was awaited, spawned or moved before.
  Awaiter awaiter(detail::PromiseBase& caller) && {
    if (!frame_) throw std::logic_error("perdure: this task was awaited or moved before");
    return Awaiter(std::exchange(frame_, nullptr), caller);
  }
  template <class Caller>
  Awaiter awaiter(Caller&) & {
    static_assert(!std::is_class_v<Caller>,
                  "perdure: a Task is awaited once: co_await std::move(task)");
  }

 private:
  explicit Task(Handle frame) : frame_(frame) {}

  Handle frame_;
};

}  // namespace perdure
