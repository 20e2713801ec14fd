#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "provider/provider.h"

/// The body of Provider::call: submit, then wait or drive.
namespace perdure {

namespace internal {

/// Where a completion leaves its answer. Shared with the completion, so that neither side outlives
/// the other's memory.
template <class T>
class AnswerSlot {
 public:
  void put(Result<T> answer) {
    {
      std::lock_guard lock(mutex_);
      answer_.emplace(std::move(answer));
    }
    arrived_.notify_all();
  }

  bool filled() {
    std::lock_guard lock(mutex_);
    return answer_.has_value();
  }

  Result<T> wait() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return answer_.has_value(); });
    return std::move(*answer_);
  }

  /// Nothing when the time came first.
  std::optional<Result<T>> wait_until(std::chrono::steady_clock::time_point end) {
    std::unique_lock lock(mutex_);
    arrived_.wait_until(lock, end, [this] { return answer_.has_value(); });
    return std::exchange(answer_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::optional<Result<T>> answer_;
};

}  // namespace internal

template <class Request>
Result<typename Request::Answer> Provider::call(Request request, CallOptions options) {
  using Answer = typename Request::Answer;
  auto slot = std::make_shared<internal::AnswerSlot<Answer>>();
  submit(
      std::move(request), [slot](Result<Answer> answer) { slot->put(std::move(answer)); }, options);
  return wait_for(*slot);
}

template <class Answer>
Result<Answer> Provider::wait_for(internal::AnswerSlot<Answer>& slot) {
  // Another thread may be driving the same provider; then our entry is in its group and we wait.
  while (!has_writer_thread() && !slot.filled() && poll_once()) {
  }
  return slot.wait();
}

}  // namespace perdure
