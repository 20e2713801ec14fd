#include "runtime/code_batch.h"

#include <exception>

#include "base/clock.h"

namespace perdure::runtime {

namespace {

std::int64_t steady_ns() {
  return std::chrono::nanoseconds(steady_now().time_since_epoch()).count();
}

}  // namespace

bool CodeBatch::run() {
  since_.store(steady_ns(), std::memory_order_release);
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    UserCode& piece = *pieces_[i];
    if (hurry_ && *hurry_) {
      std::uint64_t next = i;
      if (stage_.compare_exchange_strong(next, i | kClosed, std::memory_order_acq_rel)) return true;
      piece.discard();
      return false;
    }
    try {
      piece.run();
    } catch (...) {
      piece.error = std::current_exception();
    }
    // Before the stage: who sees the next stage sees its begin, and who sees this begin with the
    // stage before takes that for younger than it is, never for older.
    since_.store(steady_ns(), std::memory_order_relaxed);
    std::uint64_t own = i;
    if (!stage_.compare_exchange_strong(own, i + 1, std::memory_order_acq_rel)) {
      piece.discard();
      piece.error = nullptr;
      return false;
    }
  }
  return true;
}

CodeBatch::Look CodeBatch::look() const {
  Look look;
  look.index = static_cast<std::size_t>(stage_.load(std::memory_order_acquire) & ~(kAbandoned | kClosed));
  look.since = std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(since_.load(std::memory_order_acquire)));
  return look;
}

bool CodeBatch::abandon(std::size_t index) {
  std::uint64_t running = index;
  return stage_.compare_exchange_strong(running, index | kAbandoned, std::memory_order_acq_rel);
}

}  // namespace perdure::runtime
