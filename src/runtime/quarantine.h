#pragma once

#include <cstddef>
#include <map>

#include "base/guarded.h"
#include "model/ids.h"

namespace perdure::runtime {

/// The instances whose code does not return in this process. They are not run here until it does:
/// the code may be stuck in what a second turn would touch as well, and each try would cost a
/// thread. Other processes may run them.
///
/// Ownership: one per runtime, shared with the threads that are stuck, which leave it themselves.
/// After a crash it is empty, as the threads are gone. Threading: any thread.
class Quarantine {
 public:
  void enter(InstanceKey instance) {
    counts_.with([&](Counts& counts) { ++counts[instance]; });
  }
  /// Of the code that had entered; a check of frames may be stuck beside a turn.
  void leave(InstanceKey instance) {
    counts_.with([&](Counts& counts) {
      const auto found = counts.find(instance);
      if (found != counts.end() && --found->second == 0) counts.erase(found);
    });
  }
  bool holds(InstanceKey instance) const {
    return counts_.with([&](const Counts& counts) { return counts.count(instance) != 0; });
  }
  /// Instances.
  std::size_t size() const {
    return counts_.with([](const Counts& counts) { return counts.size(); });
  }

 private:
  using Counts = std::map<InstanceKey, int>;

  Guarded<Counts> counts_;
};

}  // namespace perdure::runtime
