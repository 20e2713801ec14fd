#pragma once

#include <functional>
#include <vector>

#include "base/time.h"
#include "provider/provider.h"
#include "runtime/step.h"
#include "runtime/turn_locks.h"

namespace perdure::runtime {

/// Keeps the instances that dispatchers have locked while their turns take long, such as the replay
/// of a long history. A lock that could not be renewed ends; then its turn is refused and computed
/// again, here or elsewhere.
/// Threading: one thread per object.
class TurnKeeper {
 public:
  /// `lock_for`: orchestrator_lock_timeout. Locks are renewed when half of it is over.
  TurnKeeper(Provider& provider, Duration lock_for) : provider_(provider), lock_for_(lock_for) {}

  /// Before the first step. `locks` must outlive it.
  void watch(TurnLocks& locks) { watched_.push_back(&locks); }

  Step poll_once();
  /// Whether an instance is locked now.
  bool holds() const;

 private:
  Provider& provider_;
  const Duration lock_for_;
  std::vector<TurnLocks*> watched_;
};

}  // namespace perdure::runtime
