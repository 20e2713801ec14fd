#pragma once

#include <memory>
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
  void add(std::shared_ptr<Attempt> attempt);
  void remove(const LockToken& lock);
  /// Fires the stop tokens of those that are here; others belong to another process or have ended.
  void fire(const std::vector<TouchedClaim>& claims, const std::string& reason);

 private:
  using ByLock = std::unordered_map<LockToken, std::shared_ptr<Attempt>>;

  Guarded<ByLock> running_;
};

}  // namespace perdure::runtime
