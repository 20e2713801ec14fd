#include "base/kick_gate.h"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"

namespace perdure::test::kick_gate_test {

namespace {

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() {
    for (const int end : ends) ::close(end);
  }
  int ends[2] = {-1, -1};  // NOLINT: for the system
};

/// In this thread: SIG_BLOCK or SIG_UNBLOCK.
void mask_kicks(int how) {
  sigset_t kicks;
  sigemptyset(&kicks);
  sigaddset(&kicks, SIGRTMAX - 2);
  ::pthread_sigmask(how, &kicks, nullptr);
}

/// For this thread: sent, but not taken yet.
bool kicks_are_pending() {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && sigismember(&pending, SIGRTMAX - 2) != 0;
}

/// Waits in a call of the system for so many nanoseconds, with no signal blocked. True: it ended
/// with EINTR, by a kick that came meanwhile or was not taken before.
bool calls_are_interrupted(std::int64_t length) {
  sigset_t none;
  sigemptyset(&none);
  const timespec time{0, length};
  return ::ppoll(nullptr, 0, &time, &none) != 0 && errno == EINTR;
}

/// For a moment, without a call of the system.
void spin(Random& random) {
  static std::atomic<std::uint64_t> turns{0};
  for (std::uint64_t left = random.next() % 500; left > 0; --left) {
    turns.store(left, std::memory_order_relaxed);
  }
}

TEST(KickGate, EndsABlockingReadOfTheThreadInside) {
  KickGate gate;
  const Pipe pipe;
  std::atomic<bool> returned = false;
  int error = 0;
  std::thread reader([&] {
    const KickGate::Inside inside(gate);
    char byte = 0;
    if (::read(pipe.ends[0], &byte, 1) < 0) error = errno;
    returned = true;
  });
  // One that comes before the read has begun ends nothing.
  while (!returned) {
    gate.kick();
    std::this_thread::yield();
  }
  reader.join();
  EXPECT_EQ(error, EINTR);
}

/// A thread that was started with all signals blocked, as those of a program that blocks them first.
template <class Code>
std::thread with_all_signals_blocked(Code code) {
  sigset_t all;
  sigset_t former;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &former);
  std::thread started(code);
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return started;
}

TEST(KickGate, EndsAReadOfAThreadThatWasStartedWithAllSignalsBlocked) {
  KickGate gate;
  const Pipe pipe;
  std::atomic<bool> returned = false;
  int error = 0;
  std::thread reader = with_all_signals_blocked([&] {
    const KickGate::Inside inside(gate);
    char byte = 0;
    if (::read(pipe.ends[0], &byte, 1) < 0) error = errno;
    returned = true;
  });
  const auto until = steady_now() + std::chrono::seconds(60);
  while (!returned && steady_now() < until) {
    gate.kick();
    std::this_thread::yield();
  }
  if (!returned) {
    EXPECT_EQ(::write(pipe.ends[1], "x", 1), 1);
  }
  reader.join();
  EXPECT_EQ(error, EINTR);
}

TEST(KickGate, ShowsTheStackOfAThreadThatWasStartedWithAllSignalsBlocked) {
  KickGate gate;
  std::mutex mutex;
  std::condition_variable changed;
  bool inside_now = false;
  bool seen = false;
  // Not in a read: a thread sanitizer holds signals back there. And not in its first wait, where it
  // may lose them.
  std::thread waiting = with_all_signals_blocked([&] {
    ::poll(nullptr, 0, 0);
    const KickGate::Inside inside(gate);
    std::unique_lock lock(mutex);
    inside_now = true;
    changed.notify_all();
    changed.wait(lock, [&] { return seen; });
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside_now; });
  }
  std::string stack;
  EXPECT_TRUE(gate.look([&](const ThreadRef& thread) { stack = stack_of(thread); }));
  EXPECT_NE(stack.find("libc.so"), std::string::npos) << stack;
  {
    const std::lock_guard lock(mutex);
    seen = true;
  }
  changed.notify_all();
  waiting.join();
}

TEST(KickGate, KicksNobodyOutside) {
  KickGate gate;
  EXPECT_FALSE(gate.kick());
  { const KickGate::Inside inside(gate); }
  EXPECT_FALSE(gate.kick());
}

TEST(KickGate, ShowsTheThreadInside) {
  KickGate gate;
  EXPECT_FALSE(gate.look([](const ThreadRef&) {}));
  const KickGate::Inside inside(gate);
  pid_t seen = 0;
  EXPECT_TRUE(gate.look([&](const ThreadRef& thread) { seen = thread.kernel_id; }));
  EXPECT_EQ(seen, ThreadRef::current().kernel_id);
}

TEST(KickGate, IsTakenByWhoHadBlockedIt) {
  KickGate gate;
  {
    const KickGate::Inside inside(gate);
    mask_kicks(SIG_BLOCK);
    std::thread([&] { EXPECT_TRUE(gate.kick()); }).join();
  }
  EXPECT_FALSE(kicks_are_pending());
}

#if defined(__SANITIZE_THREAD__)
constexpr int kTries = 1'000;
#else
constexpr int kTries = 10'000;
#endif

// Each kick is there, and not taken, when its attempt is left: it is the gate that takes it.
TEST(KickGate, NeverLandsOnWhatComesNext) {
  KickGate gate;
  int pending = 0;
  int astray = 0;
  for (int i = 0; i < kTries; ++i) {
    {
      const KickGate::Inside attempt(gate);
      mask_kicks(SIG_BLOCK);
      gate.kick();
      pending += kicks_are_pending() ? 1 : 0;
    }
    const KickGate::Inside next(gate);
    astray += calls_are_interrupted(0) ? 1 : 0;
  }
  EXPECT_EQ(pending, kTries);
  EXPECT_EQ(astray, 0);
}

// From another thread, about the end of each attempt: before it, while it is left, behind it.
TEST(KickGate, NeverLandsOnWhatComesNextWhenItMeetsTheEnd) {
  KickGate gate;
  std::atomic<int> attempts = 0;  // -1: it is over
  std::atomic<int> kicks = 0;
  std::atomic<int> aimed = 0;  // at this attempt
  std::thread kicker([&] {
    SeededRandom random(7);
    for (int seen = 0; attempts >= 0;) {
      if (attempts == seen) {
        std::this_thread::yield();
        continue;
      }
      seen = attempts;
      aimed = seen;
      spin(random);
      kicks += gate.kick() ? 1 : 0;
    }
  });
  int astray = 0;
  SeededRandom random(8);
  for (int i = 0; i < kTries; ++i) {
    {
      const KickGate::Inside attempt(gate);
      mask_kicks(i % 2 == 0 ? SIG_BLOCK : SIG_UNBLOCK);
      ++attempts;
      while (aimed != attempts) std::this_thread::yield();
      spin(random);
    }
    astray += calls_are_interrupted(20'000) ? 1 : 0;
  }
  attempts = -1;
  kicker.join();
  EXPECT_EQ(astray, 0);
  EXPECT_GT(kicks, 0);
}

}  // namespace

}  // namespace perdure::test::kick_gate_test
