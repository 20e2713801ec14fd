#include "base/kick_gate.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

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

/// True: a signal came meanwhile.
bool sleeps_are_interrupted() {
  const timespec time{0, 20'000};
  return ::nanosleep(&time, nullptr) != 0 && errno == EINTR;
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
  const int signal = SIGRTMAX - 2;
  sigset_t kicks;
  sigemptyset(&kicks);
  sigaddset(&kicks, signal);
  {
    const KickGate::Inside inside(gate);
    ::pthread_sigmask(SIG_BLOCK, &kicks, nullptr);
    std::thread([&] { EXPECT_TRUE(gate.kick()); }).join();
  }
  sigset_t pending;
  ASSERT_EQ(::sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, signal), 0);
}

TEST(KickGate, NeverLandsOnWhatComesNext) {
#if defined(__SANITIZE_THREAD__)
  constexpr int kTries = 1'000;
#else
  constexpr int kTries = 10'000;
#endif
  KickGate gate;
  std::atomic<int> attempts = 0;  // -1: it is over
  std::atomic<int> kicks = 0;
  std::atomic<int> aimed = 0;  // at this attempt
  // One for each attempt, about its end.
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
      ++attempts;
      while (aimed != attempts) std::this_thread::yield();
      spin(random);
    }
    astray += sleeps_are_interrupted() ? 1 : 0;
  }
  attempts = -1;
  kicker.join();
  EXPECT_EQ(astray, 0);
  EXPECT_GT(kicks, 0);
}

}  // namespace

}  // namespace perdure::test::kick_gate_test
