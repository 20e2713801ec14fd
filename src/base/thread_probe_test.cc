#include "base/thread_probe.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <poll.h>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace perdure::test::thread_probe_test {

namespace {

using namespace std::chrono_literals;

/// A thread that waits, or turns round and round, until it may end.
class Other {
 public:
  explicit Other(bool busy)
      : thread_([this, busy] {
          ::poll(nullptr, 0, 0);  // a thread sanitizer may lose a signal in its first wait
          {
            const std::lock_guard lock(mutex_);
            ref_ = ThreadRef::current();
            known_ = true;
          }
          changed_.notify_all();
          while (busy && !may_end_) {
          }
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [this] { return may_end_.load(); });
        }) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return known_; });
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  ~Other() {
    {
      const std::lock_guard lock(mutex_);
      may_end_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  const ThreadRef& ref() const { return ref_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  ThreadRef ref_;
  bool known_ = false;
  std::atomic<bool> may_end_{false};
  std::thread thread_;  // last: it uses the above
};

TEST(StackOf, ShowsWhereAThreadWaits) {
  const Other waiting(false);
  const std::string stack = stack_of(waiting.ref());
  EXPECT_NE(stack.find("libc.so"), std::string::npos) << stack;
  EXPECT_NE(stack.find('\n'), std::string::npos) << stack;
}

TEST(StackOf, CanBeAskedAgainAndAgain) {
  const Other waiting(false);
  for (int i = 0; i < 100; ++i) {
    ASSERT_NE(stack_of(waiting.ref()).find("libc.so"), std::string::npos) << i;
  }
}

TEST(TimesOf, TellARunningThreadFromOneThatWaits) {
  const Other busy(true);
  const Other waiting(false);
  const auto until = steady_now() + 60s;
  while (times_of(busy.ref().kernel_id).value().running < 50ms) {
    ASSERT_LT(steady_now(), until);
    std::this_thread::yield();
  }
  EXPECT_LT(times_of(waiting.ref().kernel_id).value().running, 50ms);
}

TEST(TimesOf, AreNotThereForAThreadThatIsNot) {
  EXPECT_FALSE(times_of(-1).has_value());
}

TEST(IsDebugged, SaysNoWithoutADebugger) {
  EXPECT_FALSE(is_debugged());
}

}  // namespace

}  // namespace perdure::test::thread_probe_test
