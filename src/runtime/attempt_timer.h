#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "runtime/attempt.h"
#include "runtime/settler.h"
#include "runtime/slots.h"

namespace perdure::runtime {

/// Ends attempts whose time is over, while their handlers still run; never stops a handler.
///
/// `start_to_close`, and the heartbeat timeout when the handler gives no sign of life: the attempt
/// is settled at once as a failure (tried again, or final, as its retry policy says), and its
/// handler keeps only the stop token. Not for an attempt that was told to stop before. Grace: a handler that was told to stop and has not returned
/// in time loses its slot, and the attempt is settled as stopped. What such a handler still brings
/// is dropped. Threading: `watch` and `watch_grace` on any thread; a thread of its own, which
/// sleeps until the next time is over.
class AttemptTimer {
 public:
  /// `grace`: activity_cancellation_grace_period.
  AttemptTimer(std::shared_ptr<Settler> settler, std::shared_ptr<Random> random, Duration grace);
  AttemptTimer(const AttemptTimer&) = delete;
  AttemptTimer& operator=(const AttemptTimer&) = delete;
  /// Attempts that are still watched go on without a limit.
  ~AttemptTimer();

  /// Nothing to do for an attempt without these limits.
  void watch(const std::shared_ptr<Attempt>& attempt);
  /// The attempt was told to stop just now; its handler holds the slot until it returns.
  void watch_grace(const std::shared_ptr<Attempt>& attempt, std::shared_ptr<HeldSlot> slot);

 private:
  static constexpr std::size_t kFewest = 64;

  enum class Limit : std::uint8_t { kStartToClose, kHeartbeat, kGrace };

  struct Watched {
    std::chrono::steady_clock::time_point until;
    std::weak_ptr<Attempt> attempt;  // gone when it has ended
    Limit limit = Limit::kStartToClose;
    std::shared_ptr<HeldSlot> slot;  // with kGrace
  };
  struct Later {
    bool operator()(const Watched& a, const Watched& b) const { return a.until > b.until; }
  };

  void add(Watched watched);
  void run_thread();
  void drop_ended();
  void end(const std::shared_ptr<Attempt>& attempt, const Watched& over);
  void look_for_life(const std::shared_ptr<Attempt>& attempt);
  void time_out(const std::shared_ptr<Attempt>& attempt, const std::string& reason);
  void give_up(const std::shared_ptr<Attempt>& attempt, HeldSlot& slot);

  const std::shared_ptr<Settler> settler_;
  const std::shared_ptr<Random> random_;
  const Duration grace_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<Watched> watched_;   // a heap, the next one first
  std::size_t drop_at_ = kFewest;  // so many are worth a look for those that have ended
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure::runtime
