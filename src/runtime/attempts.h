#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/work_item.h"
#include "runtime/stop_cause.h"

namespace perdure::runtime {

class Attempt;

/// An attempt that shall stop, and why.
struct Stop {
  std::shared_ptr<Attempt> attempt;
  StopCause cause;
  std::string reason;
};

/// Tells all of them before the first token of user code fires. Call it without a lock.
void stop_all(const std::vector<Stop>& stops);

/// The claims of this process: token of the claim -> attempt that runs under it, from before the
/// claim until its end is stored. Commits that take claims away or mark them are told here, and the
/// attempts stop.
/// Threading: any thread. Ownership: shared with whoever runs the attempt.
class Attempts {
 public:
  /// Before the claim that uses these tokens, so that no cancel falls between the two.
  void expect(const std::vector<LockToken>& locks);
  /// What the claim brought. Stops it at once when its token was fired in between. False: somebody
  /// has looked since its token is expected, and did not see it; he must look again.
  bool add(std::shared_ptr<Attempt> attempt);
  /// Tokens that are of no use any more: settled, or not used by the claim.
  void remove(const std::vector<LockToken>& locks);

  /// Stops those that are here, as canceled: each with the reason of its run when the claim brings
  /// one, so that a handler is told the same by whoever tells it first; the others with
  /// `otherwise`. Claims that are not here belong to another process or have ended.
  void fire(const std::vector<TouchedClaim>& claims, const std::string& otherwise);
  /// Fires every token that is here, also of claims under way.
  void fire_all(StopCause cause, const std::string& reason);

  /// All that have been claimed and not been removed.
  std::vector<std::shared_ptr<Attempt>> held() const;
  /// The same, to ask the store what became of them.
  std::vector<std::shared_ptr<Attempt>> look();
  bool empty() const;
  /// Waits until nothing is here any more; false when `until` came first.
  bool wait_until_empty(std::chrono::steady_clock::time_point until) const;

 private:
  struct Fired {
    StopCause cause;
    std::string reason;
  };
  struct Slot {
    std::shared_ptr<Attempt> attempt;  // null until the claim has answered
    std::optional<Fired> fired;        // before that
    std::uint64_t expected_at = 0;     // looks that had been taken
  };

  std::vector<std::shared_ptr<Attempt>> all_held() const;

  mutable std::mutex mutex_;
  mutable std::condition_variable removed_;
  // Guarded by mutex_.
  std::unordered_map<LockToken, Slot> slots_;
  std::uint64_t looks_ = 0;
};

}  // namespace perdure::runtime
