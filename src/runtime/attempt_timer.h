#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/random.h"
#include "runtime/attempt.h"
#include "runtime/settler.h"

namespace perdure::runtime {

/// Enforces `start_to_close`: when the time of an attempt is over it is settled at once as a
/// failure (tried again, or final, as its retry policy says), and its handler keeps only the stop
/// token. What the handler still brings is dropped. Threading: `watch` on any thread; a thread of
/// its own, which sleeps until the next time is over.
class AttemptTimer {
 public:
  AttemptTimer(std::shared_ptr<Settler> settler, std::shared_ptr<Random> random);
  AttemptTimer(const AttemptTimer&) = delete;
  AttemptTimer& operator=(const AttemptTimer&) = delete;
  /// Attempts that are still watched go on without a limit.
  ~AttemptTimer();

  /// Nothing to do for an attempt without such a limit.
  void watch(const std::shared_ptr<Attempt>& attempt);

 private:
  static constexpr std::size_t kFewest = 64;

  struct Watched {
    std::chrono::steady_clock::time_point until;
    std::weak_ptr<Attempt> attempt;  // gone when it has ended
  };
  struct Later {
    bool operator()(const Watched& a, const Watched& b) const { return a.until > b.until; }
  };

  void run_thread();
  void drop_ended();
  void time_out(const std::shared_ptr<Attempt>& attempt);

  const std::shared_ptr<Settler> settler_;
  const std::shared_ptr<Random> random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<Watched> watched_;   // a heap, the next one first
  std::size_t drop_at_ = kFewest;  // so many are worth a look for those that have ended
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace perdure::runtime
