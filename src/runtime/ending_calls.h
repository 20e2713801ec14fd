#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "provider/call.h"

namespace perdure::runtime {

/// The calls of a store that are under way, each with what ends the wait for it. Ownership: shared
/// with their completions, which may come after everybody else has gone. Threading: any thread.
class EndingCalls {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Id = std::uint64_t;

  /// `give_up` is called when all are ended, at most once. Nothing: they have been already.
  std::optional<Id> begin(std::function<void()> give_up);
  void end(Id id);

  /// What begins from now on ends then, by itself.
  void bound(Time until);
  CallOptions within_bound(CallOptions options) const;
  /// Gives up what is under way, on this thread, and all that would begin later.
  void end_all();

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<Id, std::function<void()>> calls_;
  Id last_id_ = 0;
  Time until_ = Time::max();
  bool over_ = false;
};

}  // namespace perdure::runtime
