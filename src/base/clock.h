#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/time.h"

namespace perdure {

/// Ends something when destroyed. Movable; an empty one ends nothing.
class [[nodiscard]] Subscription {
 public:
  Subscription() = default;
  explicit Subscription(std::function<void()> end) : end_(std::move(end)) {}
  Subscription(Subscription&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  Subscription& operator=(Subscription&& other) noexcept {
    if (this != &other) {
      reset();
      end_ = std::exchange(other.end_, nullptr);
    }
    return *this;
  }
  ~Subscription() { reset(); }

  /// Ends it now; later calls and the destructor do nothing.
  void reset() {
    if (auto end = std::exchange(end_, nullptr)) end();
  }

 private:
  std::function<void()> end_;
};

/// Where the engine learns the time; never ask the operating system elsewhere.
/// Threading: any thread.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock();

  virtual TimePoint now() const = 0;

  /// The real time a thread may sleep before it looks at `now()` again on its way to `until`: zero
  /// when `until` has come, at most one hour so that it is safe to pass to any wait function, and
  /// nothing when only an advance of virtual time can bring `until` (wait for `on_advance` then).
  virtual std::optional<Duration> sleep_until(TimePoint until) const = 0;

  /// Calls `callback` after each move of virtual time, on the thread that moved it, never twice at
  /// once. When the subscription's end returns the callback does not run and never will; the end
  /// waits for a run under way, except when called from inside that run. So do not end it while
  /// holding a lock the callback takes. A subscription may outlive the clock.
  [[nodiscard]] virtual Subscription on_advance(std::function<void()> callback) = 0;
};

/// The operating system's UTC clock. It never calls `on_advance` callbacks.
class SystemClock final : public Clock {
 public:
  TimePoint now() const override;
  std::optional<Duration> sleep_until(TimePoint until) const override;
  [[nodiscard]] Subscription on_advance(std::function<void()> callback) override;
};

/// Time that stands still until told to move.
class VirtualClock final : public Clock {
 public:
  /// 2026-01-01T00:00:00Z.
  static constexpr TimePoint kStart = time_from_micros(1'767'225'600'000'000);

  explicit VirtualClock(TimePoint start = kStart);
  ~VirtualClock() override;

  TimePoint now() const override;
  std::optional<Duration> sleep_until(TimePoint until) const override;
  [[nodiscard]] Subscription on_advance(std::function<void()> callback) override;

  /// Moves time forward, then runs the callbacks in the order of their subscription, with no lock
  /// of the clock held. Requires: `step` is not negative.
  void advance(Duration step);

 private:
  struct Listener;
  struct Listeners;

  std::atomic<std::int64_t> now_micros_;
  std::shared_ptr<Listeners> listeners_;
};

/// The process-wide `SystemClock`. It is never destroyed.
Clock& system_clock();

/// Monotonic real time, for measuring and for bounding waits only.
std::chrono::steady_clock::time_point steady_now();

}  // namespace perdure
