#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "model/work_item.h"

namespace perdure::runtime {

class Attempt;

/// The claims of this process: token of the claim -> attempt that runs under it. Commits that take
/// claims away or mark them are told here, and the attempts stop.
/// Threading: any thread. Ownership: shared with whoever runs the attempt.
class Attempts {
 public:
  /// Before the claim that uses these tokens, so that no cancel falls between the two.
  void expect(const std::vector<LockToken>& locks);
  /// What the claim brought. Stops it at once when its token was fired in between.
  void add(std::shared_ptr<Attempt> attempt);
  /// Tokens that are of no use any more: settled, or not used by the claim.
  void remove(const std::vector<LockToken>& locks);
  /// Fires the stop tokens of those that are here; others belong to another process or have ended.
  void fire(const std::vector<TouchedClaim>& claims, const std::string& reason);

 private:
  struct Slot {
    std::shared_ptr<Attempt> attempt;  // null until the claim has answered
    std::optional<std::string> fired;  // before that
  };
  using ByLock = std::unordered_map<LockToken, Slot>;

  Guarded<ByLock> slots_;
};

}  // namespace perdure::runtime
