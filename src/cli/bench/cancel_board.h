#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"

namespace perdure::bench {

/// When the handlers of the workload `cancel` began and when they woke, by number: told by the
/// threads of the handlers, in this process or in another one, and read by the one who cancels. The
/// times are those of the steady clock, which is one for all processes of the machine.
///
/// Lies in memory that processes share: nothing is sent, so telling costs a handler next to
/// nothing. Threading: any thread. Ownership: unmapped with the last copy of its pointer.
class CancelBoard {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// A new one for handlers 0 to `handlers` - 1. Unavailable when the system gives no memory.
  static Result<std::shared_ptr<CancelBoard>> make(std::int64_t handlers);
  /// The one behind a descriptor that was inherited from the process that made it, for as many
  /// handlers as there.
  static Result<std::shared_ptr<CancelBoard>> attach(int descriptor, std::int64_t handlers);

  CancelBoard(const CancelBoard&) = delete;
  CancelBoard& operator=(const CancelBoard&) = delete;
  ~CancelBoard();

  /// For a process that is started by this one, which inherits it.
  int descriptor() const { return descriptor_; }

  /// Called by a handler, first of all. The second attempt of the same one says nothing.
  void note_begin(std::int64_t handler);
  /// Called by a handler, first of all when it was told to stop.
  void note_awake(std::int64_t handler);

  std::int64_t begun() const { return words_[0].load(); }
  /// Waits until so many have begun; false when the time was over first.
  bool wait_for_begun(std::int64_t handlers, std::chrono::nanoseconds at_most) const;
  bool wait_for_awake(std::int64_t handlers, std::chrono::nanoseconds at_most) const;
  /// Nothing when it is not awake yet.
  std::optional<SteadyTime> awake_at(std::int64_t handler) const;

 private:
  using Word = std::atomic<std::int64_t>;
  static_assert(Word::is_always_lock_free);

  CancelBoard(int descriptor, Word* words, std::int64_t handlers)
      : descriptor_(descriptor), words_(words), handlers_(handlers) {}

  static Result<std::shared_ptr<CancelBoard>> map(int descriptor, std::int64_t handlers);
  void note(std::size_t kind, std::int64_t handler);
  Word& time(std::size_t kind, std::int64_t handler) const;
  bool wait_for(std::size_t kind, std::int64_t handlers, std::chrono::nanoseconds at_most) const;

  const int descriptor_;
  /// How many have begun, how many are awake; then the two times of each, in nanoseconds, 0 = not
  /// yet.
  Word* const words_;
  const std::int64_t handlers_;
};

}  // namespace perdure::bench
