#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace perdure::bench {

/// A few threads that make a blocking call again and again, as often as they are allowed to.
/// Threading: one thread owns it; the calls are made by its own.
class Starters {
 public:
  /// `call` may throw, which ends all of them.
  Starters(int threads, std::function<void()> call);
  Starters(const Starters&) = delete;
  Starters& operator=(const Starters&) = delete;
  ~Starters();

  /// So many more calls.
  void allow(std::int64_t calls);
  /// Begins no more calls and returns when those under way have ended. Throws what a call threw.
  void finish();
  /// Throws what a call threw so far.
  void check();

 private:
  void run();
  void join();

  const std::function<void()> call_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t allowed_ = 0;  // guarded by mutex_, as all that follow
  bool finished_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;  // last: they use all of the above
};

}  // namespace perdure::bench
