#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <perdure/detail/safe_argument.h>
#include <perdure/detail/use_it.h>
#include <perdure/detail/waiter.h>
#include <perdure/future.h>

/// Waiting for several futures. History decides: who was resolved first in it is first.
namespace perdure {

namespace detail {

/// Waits for one or all of several operations.
class MultiWaiter : public Waiter {
 public:
  MultiWaiter(PromiseBase& promise, std::vector<OpRef> ops)
      : Waiter(promise), ops_(std::move(ops)) {
    for (const OpRef& op : ops_) awaited(op);
  }
  ~MultiWaiter() override { unhook(); }

  bool await_ready() { return !stopped() && (canceled_before() || satisfied()); }
  void await_suspend(std::coroutine_handle<> handle) {
    if (stopped()) return;
    for (const OpRef& op : ops_) {
      if (!op->resolved()) claim(*op);
    }
    suspend(handle);
  }
  bool outlasts_cancel() const override {
    bool pending = false;
    bool all_wait = true;
    for (const OpRef& op : ops_) {
      const bool waits = op->on_cancel == OnCancel::kWait;
      if (!op->resolved() && !waits) return false;
      pending = pending || !op->resolved();
      all_wait = all_wait && waits;
    }
    return pending || all_wait;
  }

 protected:
  /// Looks at all operations once, before suspending.
  virtual bool satisfied() = 0;
  void unhook() {
    for (const OpRef& op : ops_) {
      if (op->waiter == this) op->waiter = nullptr;
    }
  }

  std::vector<OpRef> ops_;
};

class AnyWaiter final : public MultiWaiter {
 public:
  using MultiWaiter::MultiWaiter;
  void op_resolved(Op&) override { wake(); }
  std::size_t await_resume() {
    unhook();
    throw_if_interrupted();
    const std::size_t winner = first();
    // The code has learned of it: an event that won is not left for another wait.
    ops_[winner]->consumed = true;
    return winner;
  }

 private:
  bool satisfied() override { return first() < ops_.size(); }
  /// The one resolved first; the number of operations when none is.
  std::size_t first() const {
    std::size_t best = ops_.size();
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (!ops_[i]->resolved()) continue;
      if (best == ops_.size() || ops_[i]->order < ops_[best]->order) best = i;
    }
    return best;
  }
};

/// Ends early when one of them did not complete: that one decides the outcome.
class AllWaiter : public MultiWaiter {
 public:
  using MultiWaiter::MultiWaiter;
  void op_resolved(Op& op) override {
    --pending_;
    if (op.state != OpState::kCompleted || pending_ == 0) wake();
  }

 protected:
  void finish() {
    unhook();
    throw_if_interrupted();
    Op* broken = nullptr;
    for (const OpRef& op : ops_) {
      if (!op->resolved() || op->state == OpState::kCompleted) continue;
      if (broken == nullptr || op->order < broken->order) broken = op.get();
    }
    if (broken != nullptr) throw_unless_completed(*broken);
  }

 private:
  bool satisfied() override {
    bool broken = false;
    pending_ = 0;
    for (const OpRef& op : ops_) {
      if (!op->resolved()) {
        ++pending_;
      } else if (op->state != OpState::kCompleted) {
        broken = true;
      }
    }
    return broken || pending_ == 0;
  }

  std::size_t pending_ = 0;
};

/// The futures of a vector, all of one type, owned by the awaitable.
template <class T>
class AllOfVectorAwaiter final : public AllWaiter {
 public:
  AllOfVectorAwaiter(PromiseBase& promise, std::vector<OpRef> ops, Take<T> take)
      : AllWaiter(promise, std::move(ops)), take_(take) {}
  auto await_resume() {
    finish();
    if constexpr (!std::is_void_v<T>) {
      std::vector<T> values;
      values.reserve(ops_.size());
      for (const OpRef& op : ops_) values.push_back(value_of<T>(*op, take_));
      return values;
    } else {
      for (const OpRef& op : ops_) op->consumed = true;
    }
  }

 private:
  Take<T> take_;
};

template <class... Ts>
class AllOfTupleAwaiter final : public AllWaiter {
 public:
  AllOfTupleAwaiter(PromiseBase& promise, std::vector<OpRef> ops, std::tuple<Take<Ts>...> takes)
      : AllWaiter(promise, std::move(ops)), takes_(takes) {}
  std::tuple<Stored<Ts>...> await_resume() {
    finish();
    return take_all(std::index_sequence_for<Ts...>{});
  }

 private:
  template <std::size_t... I>
  std::tuple<Stored<Ts>...> take_all(std::index_sequence<I...>) {
    for (const OpRef& op : ops_) op->consumed = true;
    return std::tuple<Stored<Ts>...>{std::get<I>(takes_)(*ops_[I])...};
  }

  std::tuple<Take<Ts>...> takes_;
};

class PERDURE_DETAIL_USE_IT("co_await when_any") AnyOf {
 public:
  using PerdureAwaitable = void;
  explicit AnyOf(std::vector<OpRef> ops) : ops_(std::move(ops)) {}
  auto awaiter(PromiseBase& promise) { return AnyWaiter(promise, std::move(ops_)); }

 private:
  std::vector<OpRef> ops_;
};

template <class T>
class PERDURE_DETAIL_USE_IT("co_await when_all") AllOfVector {
 public:
  using PerdureAwaitable = void;
  explicit AllOfVector(std::vector<Future<T>> futures) : futures_(std::move(futures)) {}
  auto awaiter(PromiseBase& promise) {
    std::vector<OpRef> ops;
    ops.reserve(futures_.size());
    for (const Future<T>& future : futures_) ops.push_back(future.op());
    return AllOfVectorAwaiter<T>(
        promise, std::move(ops), futures_.empty() ? nullptr : futures_.front().take());
  }

 private:
  std::vector<Future<T>> futures_;
};

template <class... Ts>
class PERDURE_DETAIL_USE_IT("co_await when_all") AllOfTuple {
 public:
  using PerdureAwaitable = void;
  AllOfTuple(std::vector<OpRef> ops, std::tuple<Take<Ts>...> takes)
      : ops_(std::move(ops)), takes_(takes) {}
  auto awaiter(PromiseBase& promise) {
    return AllOfTupleAwaiter<Ts...>(promise, std::move(ops_), takes_);
  }

 private:
  std::vector<OpRef> ops_;
  std::tuple<Take<Ts>...> takes_;
};

template <class F>
inline constexpr bool kIsFuture = false;
template <class T>
inline constexpr bool kIsFuture<Future<T>> = true;

/// `Call<T>` and the like count as what they derive from.
template <class T>
Future<T> as_future(const Future<T>&);
template <class F>
using FutureOf = decltype(as_future(std::declval<const F&>()));
template <class F>
concept FutureLike = requires(const std::remove_cvref_t<F>& future) {
  as_future(future);
};

#define PERDURE_DETAIL_NAMED_FUTURES                                                             \
  "perdure: when_all and when_any take named futures or a vector: compilers evaluate arguments " \
  "in different orders, so calls made inside them would be recorded in different orders"

}  // namespace detail

/// The index of the future that was resolved first. All of them stay with their owner: read the
/// winner with `get()`; a loser is canceled when it goes out of scope.
template <class... Futures>
requires(detail::FutureLike<Futures>&&...) detail::AnyOf when_any(Futures&&... futures) {
  static_assert((std::is_lvalue_reference_v<Futures> && ...), PERDURE_DETAIL_NAMED_FUTURES);
  static_assert(sizeof...(Futures) > 0, "perdure: when_any of nothing never ends");
  return detail::AnyOf({futures.op()...});
}

/// The same over a vector that stays with its owner. Requires: not empty (throws
/// std::invalid_argument, since it would never end).
template <class T>
detail::AnyOf when_any(std::vector<Future<T>>& futures) {
  if (futures.empty()) throw std::invalid_argument("perdure: when_any of nothing never ends");
  std::vector<detail::OpRef> ops;
  ops.reserve(futures.size());
  for (const Future<T>& future : futures) ops.push_back(future.op());
  return detail::AnyOf(std::move(ops));
}

template <class T>
void when_any(std::vector<Future<T>>&&) {
  static_assert(detail::kNever<T>,
                "perdure: when_any leaves the futures with their owner: name the vector");
}

/// All values, in the order of the arguments, as a tuple (`void` gives an empty place). When one
/// does not complete, the await ends at once with its exception; the others stay with their owner.
template <class... Futures>
requires(detail::FutureLike<Futures>&&...) auto when_all(Futures&&... futures) {
  static_assert((std::is_lvalue_reference_v<Futures> && ...), PERDURE_DETAIL_NAMED_FUTURES);
  using All =
      detail::AllOfTuple<typename detail::FutureOf<std::remove_cvref_t<Futures>>::value_type...>;
  return All({futures.op()...}, {futures.take()...});
}

/// All values of a vector of futures, in its order; the futures belong to the wait: when one does
/// not complete, the others are canceled.
template <class T>
detail::AllOfVector<T> when_all(std::vector<Future<T>>&& futures) {
  return detail::AllOfVector<T>(std::move(futures));
}
template <class T>
void when_all(std::vector<Future<T>>&) {
  static_assert(detail::kNever<T>, "perdure: when_all takes the vector over: std::move it");
}

}  // namespace perdure
