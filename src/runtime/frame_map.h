#pragma once

#include <unordered_map>

#include "runtime/frame_keeper.h"

namespace perdure::runtime {

/// Keeps every frame, or none. Without limits: for tests and short-lived programs. One thread.
class FrameMap final : public FrameKeeper {
 public:
  explicit FrameMap(bool keeps) : keeps_(keeps) {}

  std::unique_ptr<replay::Execution> take(const FrameKey& key) override;
  void keep(const FrameKey& key, std::unique_ptr<replay::Execution> frames) override;

  /// False evicts what is here and everything that comes.
  void set_keeps(bool keeps);
  void clear() { frames_.clear(); }
  std::size_t size() const { return frames_.size(); }

 private:
  struct Kept {
    FrameKey key;
    std::unique_ptr<replay::Execution> frames;
  };

  bool keeps_;
  std::unordered_map<InstanceKey, Kept> frames_;
};

}  // namespace perdure::runtime
