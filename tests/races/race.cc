#include "tests/races/race.h"

#include <algorithm>
#include <array>
#include <utility>

#include <gtest/gtest.h>

#include "tests/races/order.h"
#include "tests/races/race_steps.h"

namespace perdure::races {

namespace {

constexpr std::array kDeeds{
    DeedInfo{Deed::kCancel, "Cancel", "store.cancel"},
    DeedInfo{Deed::kTerminate, "Terminate", "store.terminate"},
    DeedInfo{Deed::kClaim, "Claim", "store.claim"},
    DeedInfo{Deed::kComplete, "Complete", "store.complete"},
    DeedInfo{Deed::kFail, "Fail", "store.fail"},
    DeedInfo{Deed::kTimerFires, "TimerFires", "store.fetch"},
    DeedInfo{Deed::kChildStart, "ChildStart", "store.child_start"},
    DeedInfo{Deed::kContinueAsNew, "ContinueAsNew", "store.continue_as_new"},
    DeedInfo{Deed::kSelect, "Select", "store.drop"},
    DeedInfo{Deed::kRetryBackoff, "RetryBackoff", "store.retry"},
    DeedInfo{Deed::kCallTimeout, "CallTimeout", "store.call_timeout"},
    DeedInfo{Deed::kAck, "Ack", "store.ack"},
    DeedInfo{Deed::kRenewal, "Renewal", "store.renew"},
    DeedInfo{Deed::kCheck, "Check", "store.check"},
    DeedInfo{Deed::kEndOfGrace, "EndOfGrace", "runtime.grace_over"},
    DeedInfo{Deed::kLeaseSweep, "LeaseSweep", "store.lease_sweep"},
    DeedInfo{Deed::kShutdown, "Shutdown", "store.release"},
    DeedInfo{Deed::kDelete, "Delete", "store.delete"},
    DeedInfo{Deed::kTakeover, "Takeover", "store.take_over"},
};

/// One pair in one order.
class RaceTest : public RaceSteps {
 public:
  RaceTest(Deed first, Deed second, const Scene& scene, std::string story)
      : first_(first), second_deed_(second), scene_of_test_(scene), story_(std::move(story)) {}

  void TestBody() override {
    set(scene_of_test_, first_);
    std::string story;
    {
      const Recording recording;
      story = perform(first_) + "; ";
      story += perform(second_deed_) + "; ";
    }
    expect_order(point_of(first_), point_of(second_deed_));
    EXPECT_EQ(story + rest(), story_);
    expect_whole_history();
  }

 private:
  std::string_view point_of(Deed deed) const {
    const bool by_runtime = deed == Deed::kCallTimeout && scene_of_test_.limited;
    return by_runtime ? "runtime.call_timeout" : info_of(deed).point;
  }

  const Deed first_;
  const Deed second_deed_;
  const Scene scene_of_test_;
  const std::string story_;
};

void add_test(
    const char* suite, Deed first, Deed second, const Scene& scene, const std::string& story) {
  const std::string name =
      std::string(info_of(first).name) + "Before" + std::string(info_of(second).name);
  ::testing::RegisterTest(
      suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__, [=]() -> RaceTest* {
        return new RaceTest(first, second, scene, story);
      });
}

}  // namespace

std::span<const DeedInfo> deeds() {
  return kDeeds;
}

const DeedInfo& info_of(Deed deed) {
  return *std::ranges::find(kDeeds, deed, &DeedInfo::deed);
}

bool add_races(const std::vector<Race>& races, const char* suite) {
  for (const Race& race : races) {
    add_test(suite, race.a, race.b, race.scene, race.a_before_b);
    add_test(suite, race.b, race.a, race.scene, race.b_before_a);
  }
  return true;
}

}  // namespace perdure::races
