#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace perdure::bench {

/// Counts which handlers have begun, by number. Threading: any thread.
class Starts {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// Handlers are numbered from 0 to `handlers` - 1.
  explicit Starts(std::int64_t handlers);

  /// Called by the handler, first of all.
  void note(std::int64_t handler);

  /// Waits until so many different handlers have begun; answers when the last of them did, or
  /// nothing when the time was over first.
  std::optional<SteadyTime> wait_for(std::int64_t handlers, std::chrono::nanoseconds at_most);

  std::int64_t begun() const;        ///< different handlers
  std::int64_t begun_again() const;  ///< those that began more than once
  std::optional<SteadyTime> first_at() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  // Guarded by mutex_.
  std::vector<int> times_;
  std::int64_t begun_ = 0;
  std::int64_t begun_again_ = 0;
  std::int64_t wanted_ = 0;  // of the one who waits, so that not each start wakes it
  std::optional<SteadyTime> first_at_;
  SteadyTime last_at_{};
};

}  // namespace perdure::bench
