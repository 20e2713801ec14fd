#include "runtime/loop.h"

#include <chrono>
#include <semaphore>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/guarded.h"
#include "provider/forwarding_provider.h"
#include "provider/sqlite/options.h"

namespace perdure::runtime::loop_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// A store that tells for how long it was waited on.
class TimedStore final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;

  Wake wait_for_change(const Interest& interest) override {
    waits.with([&](std::vector<milliseconds>& all) { all.push_back(interest.bound); });
    waited.release();
    return ForwardingProvider::wait_for_change(interest);
  }

  Guarded<std::vector<milliseconds>> waits;
  std::counting_semaphore<> waited{0};
};

/// The first wait of a loop whose step takes so long.
milliseconds wait_after(milliseconds step, milliseconds bound) {
  sqlite::Options options;
  options.path = ":memory:";
  const auto real = sqlite::open(options).value();
  TimedStore store(*real);
  LoopOptions loop;
  loop.bound = bound;
  loop.steps_when_idle = true;
  Loop stepping(
      store,
      loop,
      [step] {
        std::this_thread::sleep_for(step);
        return Step{};
      },
      [] {});
  EXPECT_TRUE(store.waited.try_acquire_for(60s));
  return store.waits.with([](const std::vector<milliseconds>& all) { return all.front(); });
}

TEST(LoopWait, IsShorterByTheTimeOfTheStep) {
  EXPECT_LE(wait_after(50ms, 1h), 1h - 50ms);
  EXPECT_GT(wait_after(50ms, 1h), 1h - 1min);
}

TEST(LoopWait, IsHalfOfItsBoundAtLeast) {
  EXPECT_GT(wait_after(50ms, 40ms), 0ms);
  EXPECT_LE(wait_after(50ms, 40ms), 20ms);
}

}  // namespace
}  // namespace perdure::runtime::loop_test
