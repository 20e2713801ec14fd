#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "provider/provider.h"

/// Words about answers that several suites share.
namespace perdure::conformance {

/// Why a call was refused; nullopt when it was not. Safe on success, so a test that expected a
/// refusal fails instead of aborting.
template <class T>
std::optional<ErrorCode> refusal(const Result<T>& result) {
  if (result.ok()) return std::nullopt;
  return result.code();
}

/// The answers of requests that were submitted without waiting: each in its own place, with the
/// number of times it came. Threading: any thread.
template <class T>
class Answers {
 public:
  /// The completion of one more request; its place is the number of calls before.
  Completion<T> next() {
    std::lock_guard lock(state_->mutex);
    const std::size_t place = state_->slots.size();
    state_->slots.emplace_back();
    return [state = state_, place](Result<T> answer) { state->put(place, std::move(answer)); };
  }

  /// Drives the provider, or waits for its writer, until every request has been answered. False
  /// when one has not been after a time that only a hanging provider needs.
  [[nodiscard]] bool wait_for_all(Provider& provider) {
    if (!provider.has_writer_thread()) {
      while (!complete() && provider.poll_once()) {
      }
    }
    std::unique_lock lock(state_->mutex);
    return state_->arrived.wait_for(lock, std::chrono::seconds(60), [this] { return all_there(); });
  }

  bool complete() {
    std::lock_guard lock(state_->mutex);
    return all_there();
  }

  std::size_t size() {
    std::lock_guard lock(state_->mutex);
    return state_->slots.size();
  }

  /// How often the request at this place has been answered.
  int times(std::size_t place) {
    std::lock_guard lock(state_->mutex);
    return state_->slots.at(place).times;
  }

  Result<T> at(std::size_t place) {
    std::lock_guard lock(state_->mutex);
    if (!state_->slots.at(place).answer) throw std::runtime_error("a request has no answer");
    return *state_->slots[place].answer;
  }

 private:
  struct Slot {
    int times = 0;
    std::optional<Result<T>> answer;
  };

  struct State {
    void put(std::size_t place, Result<T> answer) {
      {
        std::lock_guard lock(mutex);
        if (++slots.at(place).times == 1) ++answered;
        slots[place].answer.emplace(std::move(answer));
      }
      arrived.notify_all();
    }

    std::mutex mutex;
    std::condition_variable arrived;
    std::deque<Slot> slots;
    std::size_t answered = 0;
  };

  bool all_there() const { return state_->answered == state_->slots.size(); }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace perdure::conformance
