#pragma once

#include <cstddef>
#include <limits>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "runtime/frame_counts.h"
#include "runtime/frame_keeper.h"

namespace perdure::runtime {

struct FrameLimits {
  std::size_t count = std::numeric_limits<std::size_t>::max();  ///< 0: nothing is kept
  std::size_t bytes = std::numeric_limits<std::size_t>::max();
};

/// Keeps frames up to a number and a size; those that were used least recently go first.
///
/// One instance has one state here: of two that come back, the older is stale. The size of frames
/// is measured when they come back (`replay::Execution::bytes` says what counts, and a place in the
/// tables here is added); one that alone is larger than the limit is not kept and drives out no
/// other.
/// Threading: any thread. Frames are destroyed on the thread of the call that evicts them, after
/// the lock is released, since destructors of user code may be slow.
/// Ownership: frames refer to the handlers and the random source that made them, so both must
/// outlive what is here. A crash loses nothing: frames come back by replay.
class FrameCache final : public FrameKeeper {
 public:
  explicit FrameCache(FrameLimits limits) : state_(limits) {}

  std::unique_ptr<replay::Execution> take(const FrameKey& key) override;
  void keep(const FrameKey& key, std::unique_ptr<replay::Execution> frames) override;
  void note_check(ReplayCheckResult result) override;

  /// Evicts what is here; what comes later is kept.
  void clear();
  /// Evicts what is here and everything that still comes: the registration has ended.
  void close();
  /// Evicts what is above the new limits.
  void set_limits(FrameLimits limits);

  FrameCounts counts() const;

 private:
  struct Kept {
    FrameKey key;
    std::unique_ptr<replay::Execution> frames;
    std::size_t bytes = 0;
  };
  using Line = std::list<Kept>;

  /// What the lock guards. Its functions move what they evict to `out`, for the caller to destroy.
  struct State {
    explicit State(FrameLimits most) : limits(most) {}

    void admit(Line incoming, Line& out);
    void shrink(Line& out);
    void remove(Line::iterator place, std::uint64_t& counter, Line& out);
    void remove_all(Line& out);

    FrameLimits limits;
    bool closed = false;
    Line line;  // the most recently used last
    std::unordered_map<InstanceKey, Line::iterator> places;
    FrameCounts counts;
  };

  Guarded<State> state_;
};

}  // namespace perdure::runtime
