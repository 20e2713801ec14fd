#include "provider/sqlite/change_hub.h"

#include <atomic>
#include <latch>
#include <thread>

#include <gtest/gtest.h>

namespace perdure::sqlite {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Reason = Wake::Reason;

/// Only tells hanging from working.
constexpr milliseconds kLongWait = seconds(60);

class ChangeHubTest : public ::testing::Test {
 protected:
  template <class Fn>
  void publish(Fn&& fill) {
    Topics topics;
    fill(topics);
    hub_.publish(topics);
  }

  /// What a wait without patience answers.
  Reason look(Interest interest) {
    interest.bound = milliseconds(0);
    return hub_.wait(interest, {}).reason;
  }

  VirtualClock clock_;
  ChangeHub hub_{clock_};
};

TEST(TopicsTest, AreASet) {
  Topics topics;
  EXPECT_TRUE(topics.empty());
  topics.work("q");
  topics.work("q");
  EXPECT_EQ(topics.names().size(), 1U);
  topics.clear();
  EXPECT_TRUE(topics.empty());
}

TEST_F(ChangeHubTest, AChangeAfterTheMarkEndsTheWaitAtOnce) {
  const ChangeMark mark = hub_.mark(0);
  publish([](Topics& topics) { topics.work("q"); });
  EXPECT_EQ(look({.after = mark, .work_queues = {"other", "q"}}), Reason::kChanged);
}

TEST_F(ChangeHubTest, AChangeBeforeTheMarkDoesNot) {
  publish([](Topics& topics) { topics.work("q"); });
  EXPECT_EQ(look({.after = hub_.mark(0), .work_queues = {"q"}}), Reason::kBound);
}

TEST_F(ChangeHubTest, TheMarkOfAWakeIsForTheNextWait) {
  const ChangeMark mark = hub_.mark(0);
  publish([](Topics& topics) { topics.work("q"); });
  const Wake wake = hub_.wait({.after = mark, .work_queues = {"q"}, .bound = kLongWait}, {});
  EXPECT_EQ(wake.reason, Reason::kChanged);
  EXPECT_EQ(look({.after = wake.mark, .work_queues = {"q"}}), Reason::kBound);
  publish([](Topics& topics) { topics.work("q"); });
  EXPECT_EQ(look({.after = wake.mark, .work_queues = {"q"}}), Reason::kChanged);
}

TEST_F(ChangeHubTest, EachKindOfTopicWakesItsOwnInterestOnly) {
  const std::vector<std::function<void(Topics&)>> changes = {
      [](Topics& topics) { topics.instances("1"); },
      [](Topics& topics) { topics.work("1"); },
      [](Topics& topics) { topics.claims(Epoch{1}); },
      [](Topics& topics) { topics.run(InstanceKey{1}); },
      [](Topics& topics) { topics.carry_on(); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const ChangeMark mark = hub_.mark(0);
    publish(changes[i]);
    const std::vector<Interest> interests = {
        {.after = mark, .orchestration_queues = {"1"}},
        {.after = mark, .work_queues = {"1"}},
        {.after = mark, .claims_of = Epoch{1}},
        {.after = mark, .run = InstanceKey{1}},
        {.after = mark, .carry_on = true},
    };
    for (std::size_t k = 0; k < interests.size(); ++k) {
      EXPECT_EQ(look(interests[k]), i == k ? Reason::kChanged : Reason::kBound) << i << " " << k;
    }
  }
}

TEST_F(ChangeHubTest, NothingTouchedWakesNobody) {
  const ChangeMark mark = hub_.mark(0);
  hub_.publish(Topics());
  EXPECT_EQ(hub_.mark(0).local, mark.local);
}

TEST_F(ChangeHubTest, AChangeWakesWhoWaits) {
  const ChangeMark mark = hub_.mark(0);
  std::latch waiting(1);
  std::thread waiter([&] {
    const auto none = [&] {
      waiting.count_down();
      return std::int64_t{0};
    };
    const Interest interest{.after = mark, .run = InstanceKey{3}, .bound = kLongWait};
    EXPECT_EQ(hub_.wait(interest, none, kLongWait).reason, Reason::kChanged);
  });
  waiting.wait();
  publish([](Topics& topics) { topics.run(InstanceKey{3}); });
  waiter.join();
}

TEST_F(ChangeHubTest, ATimeOfTheClockEndsTheWait) {
  const TimePoint until = clock_.now() + hours(1);
  EXPECT_EQ(look({.until = until}), Reason::kBound);
  std::thread waiter([&] {
    EXPECT_EQ(hub_.wait({.until = until, .bound = kLongWait}, {}).reason, Reason::kTime);
  });
  clock_.advance(std::chrono::minutes(59));
  clock_.advance(std::chrono::minutes(1));
  waiter.join();
  EXPECT_EQ(look({.until = until}), Reason::kTime);
}

TEST(ChangeHubOnSystemTime, ATimeOfTheClockEndsTheWait) {
  ChangeHub hub(system_clock());
  const TimePoint until = system_clock().now() + milliseconds(2);
  EXPECT_EQ(hub.wait({.until = until, .bound = kLongWait}, {}).reason, Reason::kTime);
  EXPECT_EQ(hub.wait({.until = kForever, .bound = milliseconds(1)}, {}).reason, Reason::kBound);
}

TEST_F(ChangeHubTest, AnInterruptEndsEveryWaitUnderWay) {
  std::latch waiting(2);
  const auto none = [&] {
    waiting.count_down();
    return std::int64_t{0};
  };
  const auto wait = [&] {
    EXPECT_EQ(hub_.wait({.bound = kLongWait}, none, kLongWait).reason, Reason::kInterrupted);
  };
  std::thread one(wait);
  std::thread two(wait);
  waiting.wait();
  hub_.interrupt();
  one.join();
  two.join();
}

TEST_F(ChangeHubTest, AnInterruptEndsALaterWaitWithAnOlderMarkAndNoOther) {
  const ChangeMark before = hub_.mark(0);
  hub_.interrupt();
  EXPECT_EQ(look({.after = before}), Reason::kInterrupted);
  EXPECT_EQ(look({.after = hub_.mark(0)}), Reason::kBound);
  const Wake wake = hub_.wait({.after = before, .bound = milliseconds(0)}, {});
  EXPECT_EQ(look({.after = wake.mark}), Reason::kBound) << "the mark of a wake is a new one";
}

TEST_F(ChangeHubTest, ACommitOfOthersBeforeTheWaitEndsItAtOnce) {
  const ChangeMark mark = hub_.mark(1);
  const auto two = [] { return std::int64_t{2}; };
  const Wake wake = hub_.wait({.after = mark, .bound = milliseconds(0)}, two);
  EXPECT_EQ(wake.reason, Reason::kForeign);
  EXPECT_EQ(hub_.wait({.after = wake.mark, .bound = milliseconds(0)}, two).reason, Reason::kBound);
}

TEST_F(ChangeHubTest, ACommitOfOthersWakesWhoWaits) {
  std::atomic<std::int64_t> version = 1;
  std::latch waiting(1);
  const ChangeMark mark = hub_.mark(1);
  std::thread waiter([&] {
    const auto foreign = [&] {
      const std::int64_t seen = version;
      waiting.count_down(waiting.try_wait() ? 0 : 1);
      return seen;
    };
    const Interest interest{.after = mark, .bound = kLongWait};
    EXPECT_EQ(hub_.wait(interest, foreign, milliseconds(1)).reason, Reason::kForeign);
  });
  waiting.wait();
  version = 2;
  waiter.join();
}

TEST_F(ChangeHubTest, WhoStaysLooksForOthersWhenTheOneWhoLookedIsGone) {
  std::atomic<std::int64_t> version = 1;
  const auto foreign = [&] { return version.load(); };
  const ChangeMark mark = hub_.mark(1);
  std::thread stays([&] {
    const Interest interest{.after = mark, .bound = kLongWait};
    EXPECT_EQ(hub_.wait(interest, foreign, milliseconds(1)).reason, Reason::kForeign);
  });
  for (int i = 0; i < 20; ++i) {
    const Interest interest{.after = mark, .bound = milliseconds(1)};
    EXPECT_EQ(hub_.wait(interest, foreign, milliseconds(1)).reason, Reason::kBound);
  }
  version = 2;
  stays.join();
}

TEST_F(ChangeHubTest, AnOldForeignVersionOnlyWakesEarly) {
  const auto five = [] { return std::int64_t{5}; };
  static_cast<void>(hub_.mark(5));
  const ChangeMark old = hub_.mark(3);
  EXPECT_EQ(hub_.wait({.after = old, .bound = milliseconds(0)}, five).reason, Reason::kForeign);
  EXPECT_EQ(hub_.wait({.after = hub_.mark(5), .bound = milliseconds(0)}, five).reason,
            Reason::kBound);
}

TEST(ChangeHubMemory, ForgottenTopicsWakeOldMarksAndSpareNewOnes) {
  VirtualClock clock;
  ChangeHub hub(clock, 4);
  const auto look = [&](ChangeMark mark, std::int64_t key) {
    const Interest interest{.after = mark, .run = InstanceKey{key}, .bound = milliseconds(0)};
    return hub.wait(interest, {}).reason;
  };
  const ChangeMark oldest = hub.mark(0);
  ChangeMark newest = oldest;
  for (std::int64_t key = 1; key <= 10; ++key) {
    newest = hub.mark(0);
    Topics topics;
    topics.run(InstanceKey{key});
    hub.publish(topics);
  }
  // Every change is known or taken for one, never lost.
  for (std::int64_t key = 1; key <= 10; ++key) EXPECT_EQ(look(oldest, key), Reason::kChanged);
  EXPECT_EQ(look(oldest, 99), Reason::kChanged) << "nothing was forgotten";
  EXPECT_EQ(look(newest, 10), Reason::kChanged);
  EXPECT_EQ(look(newest, 1), Reason::kBound);
  EXPECT_EQ(look(newest, 99), Reason::kBound);
}

TEST(ChangeHubMemory, AGroupThatTouchesMoreThanCanBeRememberedWakesAll) {
  VirtualClock clock;
  ChangeHub hub(clock, 4);
  const ChangeMark mark = hub.mark(0);
  Topics topics;
  for (std::int64_t key = 1; key <= 10; ++key) topics.run(InstanceKey{key});
  hub.publish(topics);
  const auto look = [&](ChangeMark after, std::int64_t key) {
    const Interest interest{.after = after, .run = InstanceKey{key}, .bound = milliseconds(0)};
    return hub.wait(interest, {}).reason;
  };
  EXPECT_EQ(look(mark, 5), Reason::kChanged);
  EXPECT_EQ(look(mark, 99), Reason::kChanged) << "nothing was forgotten";
  EXPECT_EQ(look(hub.mark(0), 5), Reason::kBound);
}

}  // namespace
}  // namespace perdure::sqlite
