#pragma once

#include <concepts>
#include <functional>
#include <mutex>
#include <type_traits>
#include <utility>

namespace perdure {

/// Data that can be reached only while its lock is held.
///
/// `ready_.with([](ReadyQueue& queue) { return std::exchange(queue.ids, {}); })` takes what is
/// needed; do the slow work after it, outside the lock. Calling `with` again from inside deadlocks.
/// Threading: any thread.
template <class T>
class Guarded {
 public:
  template <class... Args>
  requires std::constructible_from<T, Args...>
  explicit Guarded(Args&&... args) : data_(std::forward<Args>(args)...) {}

  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  /// Calls `fn(data)` under the lock and returns its answer.
  template <std::invocable<T&> Fn>
  std::invoke_result_t<Fn, T&> with(Fn&& fn) {
    static_assert(!std::is_reference_v<std::invoke_result_t<Fn, T&>>,
                  "a reference would outlive the lock");
    const std::lock_guard lock(mutex_);
    return std::invoke(std::forward<Fn>(fn), data_);
  }

  template <std::invocable<const T&> Fn>
  std::invoke_result_t<Fn, const T&> with(Fn&& fn) const {
    static_assert(!std::is_reference_v<std::invoke_result_t<Fn, const T&>>,
                  "a reference would outlive the lock");
    const std::lock_guard lock(mutex_);
    return std::invoke(std::forward<Fn>(fn), data_);
  }

 private:
  mutable std::mutex mutex_;
  T data_;
};

}  // namespace perdure
