#include "runtime/own_time.h"

#include <algorithm>

namespace perdure::runtime {

std::chrono::nanoseconds OwnTime::at(const Look& look) {
  constexpr std::chrono::nanoseconds kNone{0};
  if (look.piece != piece_) {
    piece_ = look.piece;
    from_ = look.since;
    own_ = kNone;
    ran_ = kNone;
  } else {
    ran_ += look.times.running - seen_.running;
  }
  // At the first look at a piece this is too much: what the thread was short of since the look
  // before, which was before the piece began.
  const auto starved = look.times.starved - seen_.starved;
  const auto late = std::chrono::nanoseconds(look.now - look.meant);
  const auto passed = std::chrono::nanoseconds(look.now - from_);
  own_ = std::max(kNone, own_ + passed - std::max({kNone, starved, late}));
  from_ = look.now;
  seen_ = look.times;
  return own_;
}

}  // namespace perdure::runtime
