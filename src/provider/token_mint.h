#pragma once

#include <atomic>
#include <vector>

#include "model/ids.h"

namespace perdure {

/// Makes the lock tokens of one process registration. A token is made before the claim that uses it
/// and never again, so an unused one is simply forgotten. Threading: any thread.
class TokenMint {
 public:
  explicit TokenMint(Epoch epoch) : epoch_(epoch) {}

  Epoch epoch() const { return epoch_; }
  LockToken next() { return {epoch_, next_.fetch_add(1, std::memory_order_relaxed)}; }
  std::vector<LockToken> next(std::size_t count) {
    std::vector<LockToken> tokens(count);
    for (LockToken& token : tokens) token = next();
    return tokens;
  }

 private:
  const Epoch epoch_;
  std::atomic<std::int64_t> next_{1};
};

}  // namespace perdure
