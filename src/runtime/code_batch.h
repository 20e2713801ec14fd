#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/user_code.h"

namespace perdure::runtime {

/// Stretches of user code that one thread runs in order while another looks at it.
///
/// Who runs them says where it is with two atomics, so a stretch costs no lock and no call of the
/// system. Whether a stretch has ended or was abandoned is decided once, by a compare and exchange
/// of the stage: who abandons one finds all before it ended, and those behind it are not begun.
/// In a hurry nothing more is begun either.
/// Ownership: shared by both threads, with all that the code refers to. The stretches are never
/// removed from it, since who was abandoned may be anywhere in it.
class CodeBatch {
 public:
  using Pieces = std::vector<std::shared_ptr<UserCode>>;

  /// Set: no further piece is to begin.
  using Hurry = std::shared_ptr<const std::atomic<bool>>;

  /// `used`: what the code refers to and must outlive it; may be empty when somebody else cares.
  /// `hurry` may be empty: there is none.
  CodeBatch(std::shared_ptr<const void> used, Pieces pieces, Hurry hurry = {})
      : used_(std::move(used)), pieces_(std::move(pieces)), hurry_(std::move(hurry)) {}
  CodeBatch(const CodeBatch&) = delete;
  CodeBatch& operator=(const CodeBatch&) = delete;

  /// Runs all, or in a hurry those before it was seen; `look` tells how many have ended. False: one
  /// was abandoned; it has been discarded, and nothing behind it was begun.
  bool run();

  /// What runs now.
  struct Look {
    std::size_t index = 0;  ///< so many have ended
    /// It began then, or earlier. Zero: nothing has begun yet.
    std::chrono::steady_clock::time_point since{};
  };
  Look look() const;

  /// False: it has ended meanwhile, or does not begin any more. After true the pieces before `index` have ended, and what they
  /// wrote may be read.
  bool abandon(std::size_t index);

  const UserCode& piece(std::size_t index) const { return *pieces_[index]; }
  std::size_t size() const { return pieces_.size(); }

 private:
  static constexpr std::uint64_t kAbandoned = std::uint64_t{1} << 63U;
  static constexpr std::uint64_t kClosed = std::uint64_t{1} << 62U;

  const std::shared_ptr<const void> used_;  // after the pieces
  const Pieces pieces_;
  const Hurry hurry_;
  // The index of what runs. One of the two is added at the end: what runs was abandoned, or nothing
  // more begins.
  std::atomic<std::uint64_t> stage_{0};
  std::atomic<std::int64_t> since_{0};   // steady time in ns, written before the stage
};

}  // namespace perdure::runtime
