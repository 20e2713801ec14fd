#include <cerrno>
#include <csignal>
#include <ctime>
#include <poll.h>

#include "base/random.h"
#include "tests/live/zombies_fixture.h"

/// Kicks through the whole runtime.
namespace perdure::test::kicks_test {

namespace {

using namespace zombies;

/// Handlers that are canceled and leave about the time of a kick; behind each, on the thread that
/// becomes free, one that waits in a call of the system.
class Kicks : public Zombies {
 protected:
  struct Seen {
    std::atomic<int> canceled{0};  ///< that have begun
    std::atomic<int> disturbed{0};
    Guarded<SeededRandom> random{9U};
  };

  void try_often(int rounds) {
    registry_.add(
        deaf,
        [seen = seen_](ActivityContext& ctx, int value) {
          ++seen->canceled;
          while (!ctx.is_cancellation_requested()) std::this_thread::yield();
          const auto pause = seen->random.with([](SeededRandom& random) {
            return std::chrono::microseconds(random.next() % 2'000);
          });
          for (const Time until = steady_now() + pause; steady_now() < until;) {
          }
          ctx.throw_if_canceled();
          return value;
        },
        {.interruptible = true});
    constexpr Activity<int(int)> next{"next"};
    constexpr Orchestration<int(int)> nexts{"nexts"};
    registry_.add(next, [seen = seen_](int value) {
      sigset_t none;
      sigemptyset(&none);
      const timespec time{0, 20'000};
      if (::ppoll(nullptr, 0, &time, &none) != 0 && errno == EINTR) ++seen->disturbed;
      return value;
    });
    registry_.add(nexts, [](OrchestrationContext& ctx, int value) -> Task<int> {
      constexpr Activity<int(int)> same{"next"};
      co_return co_await ctx.call(same, value);
    });
    RuntimeOptions options = Live::options();
    options.max_concurrent_activities = 1;
    options.zombie_retry_interval = 1ms;
    run(options);
    for (int i = 0; i < rounds; ++i) {
      const std::string number = std::to_string(i);
      start(trying, "c" + number, "1");
      start(nexts, "n" + number, "1");
      wait_for([&] { return seen_->canceled > i; }, "the handler");
      EXPECT_TRUE(cancel("c" + number, "enough").changed);
    }
    for (int i = 0; i < rounds; ++i) end_of("n" + std::to_string(i));
    EXPECT_EQ(seen_->disturbed, 0);
    EXPECT_EQ(log_.count(log::Level::kError, ""), 0);
  }

  const std::shared_ptr<Seen> seen_ = std::make_shared<Seen>();
};

TEST_F(Kicks, NeverLandOnTheNextHandlerOfTheThread) {
#if defined(__SANITIZE_THREAD__)
  try_often(100);
#else
  try_often(2'000);
#endif
}

class KicksSoak : public Kicks {};

TEST_F(KicksSoak, NeverLandOnTheNextHandlerOfTheThread) {
  try_often(10'000);
}

}  // namespace

}  // namespace perdure::test::kicks_test
