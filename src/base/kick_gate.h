#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "base/thread_probe.h"

namespace perdure {

/// Tells whether a thread is inside a piece of code, and lets others disturb it there and nowhere
/// else: a kick ends a blocking system call of it with EINTR, once. What is not interrupted by
/// that: mutexes, condition variables, `std::this_thread::sleep_for`, loops.
///
/// Whoever leaves has taken all kicks that were sent: none of them lands on what the thread does
/// next. Uses `SIGRTMAX - 2`; a program that has a handler of its own for it is never kicked.
/// Threading: any thread; one thread inside at a time.
class KickGate {
 public:
  KickGate() = default;
  KickGate(const KickGate&) = delete;
  KickGate& operator=(const KickGate&) = delete;

  /// This thread is inside for its lifetime. It can be kicked and asked for its stack there, also
  /// when it was started with these signals blocked: they stay unblocked.
  class [[nodiscard]] Inside {
   public:
    explicit Inside(KickGate& gate);
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside();

   private:
    KickGate& gate_;
  };

  /// False: nobody is inside, or the signal is not ours. One that was not taken yet is not sent
  /// again.
  bool kick();
  /// Calls it with the thread inside, which does not leave meanwhile. False: nobody is.
  bool look(const std::function<void(const ThreadRef&)>& at);

 private:
  std::mutex mutex_;
  // Guarded by mutex_.
  std::optional<ThreadRef> inside_;
  const std::atomic<std::uint64_t>* received_ = nullptr;  // of the thread inside
  std::uint64_t due_ = 0;  // so many it has received when all that were sent have come
};

}  // namespace perdure
