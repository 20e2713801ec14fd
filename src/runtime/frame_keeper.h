#pragma once

#include <cstdint>
#include <memory>

#include "model/ids.h"
#include "replay/execution.h"

namespace perdure::runtime {

/// Which state of which execution kept frames are in. They are good for a turn only when all of it
/// matches what the store says.
struct FrameKey {
  InstanceKey instance;
  ExecutionNo execution;
  EventId last_event;
  LockToken last_turn;

  bool operator==(const FrameKey&) const = default;
};

/// How a replay of kept frames' history compared with them.
enum class ReplayCheckResult : std::uint8_t { kSame, kDiffers, kUnread };

/// Where frames stay between turns. A frame leaves it when a turn takes it and comes back only
/// after the commit of that turn was answered with success; on every other answer the dispatcher
/// destroys it. Losing a frame loses nothing but time.
class FrameKeeper {
 public:
  FrameKeeper() = default;
  FrameKeeper(const FrameKeeper&) = delete;
  FrameKeeper& operator=(const FrameKeeper&) = delete;
  virtual ~FrameKeeper() = default;

  /// The frames of exactly that state; null when there are none. Frames of the same instance in
  /// another state are destroyed: the store has moved on without them.
  virtual std::unique_ptr<replay::Execution> take(const FrameKey& key) = 0;
  /// Frames after a commit that was answered with success. Those of an execution that has ended
  /// are destroyed.
  virtual void keep(const FrameKey& key, std::unique_ptr<replay::Execution> frames) = 0;
  /// A cached turn was replayed and compared; counted.
  virtual void note_check(ReplayCheckResult result) = 0;
};

}  // namespace perdure::runtime
