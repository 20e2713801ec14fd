#pragma once

#include <cstdint>
#include <memory>

#include <perdure/time.h>

#include "provider/provider.h"

namespace perdure {
class Registry;
}

namespace perdure::bench {

/// Orchestrations that sleep on a timer and then end: code, starts, and the looks that tell how far
/// they are. Threading: one thread.
class Sleepers {
 public:
  /// How long each of them sleeps.
  static constexpr Duration kSleep = std::chrono::hours(24);

  /// The code, for the runtime that runs them.
  static Registry registry();

  /// Nothing else runs on this store.
  explicit Sleepers(std::shared_ptr<Provider> store) : store_(std::move(store)) {}

  /// Starts those with the numbers from `begin` to `end` - 1, from many threads, and waits until
  /// all that were ever started sleep. Throws Unavailable when they do not.
  void start(std::int64_t begin, std::int64_t end);

  /// Waits until none sleeps any more. Throws Unavailable when some still do after a long time.
  void wait_until_awake();

  std::int64_t asleep() const;
  /// How many runs have completed.
  std::int64_t completed() const;

 private:
  std::shared_ptr<Provider> store_;
  std::int64_t started_ = 0;
};

}  // namespace perdure::bench
