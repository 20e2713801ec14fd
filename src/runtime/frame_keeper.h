#pragma once

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
  virtual void keep(const FrameKey& key, std::unique_ptr<replay::Execution> frames) = 0;
};

}  // namespace perdure::runtime
