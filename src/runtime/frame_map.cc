#include "runtime/frame_map.h"

#include <utility>

namespace perdure::runtime {

std::unique_ptr<replay::Execution> FrameMap::take(const FrameKey& key) {
  const auto found = frames_.find(key.instance);
  if (found == frames_.end()) return nullptr;
  Kept kept = std::move(found->second);
  frames_.erase(found);
  return kept.key == key ? std::move(kept.frames) : nullptr;
}

void FrameMap::keep(const FrameKey& key, std::unique_ptr<replay::Execution> frames) {
  if (keeps_) frames_.insert_or_assign(key.instance, Kept{key, std::move(frames)});
}

void FrameMap::set_keeps(bool keeps) {
  keeps_ = keeps;
  if (!keeps_) clear();
}

}  // namespace perdure::runtime
