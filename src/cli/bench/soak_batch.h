#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <perdure/client.h>

#include "base/guarded.h"
#include "cli/bench/engine_bench.h"
#include "cli/bench/soak_audit.h"
#include "cli/bench/soak_code.h"
#include "cli/bench/soak_plan.h"

namespace perdure::bench {

/// How many cancels are still wanted. One that changed nothing is given back. Threading: any
/// thread.
class CancelBudget {
 public:
  explicit CancelBudget(std::int64_t cancels) : left_(cancels) {}

  bool take() {
    if (left_.fetch_sub(1) > 0) return true;
    ++left_;
    return false;
  }
  void give_back() { ++left_; }
  std::int64_t left() const { return left_; }

 private:
  std::atomic<std::int64_t> left_;
};

/// A few trees of a soak, from their start to the look at what became of them. Every violation is
/// a wrong result of the bench's report. Threading: one thread; it has threads of its own.
class SoakBatch {
 public:
  struct Parts {
    EngineBench& bench;
    const Client& client;
    const SoakHandlers& handlers;
    CancelBudget& budget;
    SoakCounts& counts;
  };

  /// Trees have ids that begin with `prefix`, which no other batch has. All must outlive it.
  SoakBatch(Parts parts, std::string prefix, std::size_t trees);

  /// Does what was planned, at its times, from many threads.
  void act(const std::vector<SoakDeed>& plan);
  /// Waits until all has ended, for `at_most`, then looks at everything, and removes what was
  /// right. Unavailable when the store cannot be read.
  Status check(std::chrono::nanoseconds at_most);

  std::int64_t deleted() const;

 private:
  struct Tree {
    bool started = false;
    bool deleted = false;
    std::set<std::string> canceled;  ///< the call answered that it changed something
  };

  std::string id_of(std::size_t tree) const { return prefix_ + std::to_string(tree); }
  void act(const SoakDeed& deed);
  void start(const SoakDeed& deed);
  void cancel(const SoakDeed& deed);
  void check_descendants(const std::string& id);
  void remove(const SoakDeed& deed);
  Result<bool> is_settled();
  Status wait_until_settled(std::chrono::nanoseconds at_most);
  Status check_deleted(const std::string& root);
  Status check_kept(const std::string& root, const Tree& tree);
  void violated(const std::string& what);

  const Parts parts_;
  const std::string prefix_;
  Guarded<std::vector<Tree>> trees_;
  std::mutex report_;  // guards the report while deeds are done
};

}  // namespace perdure::bench
