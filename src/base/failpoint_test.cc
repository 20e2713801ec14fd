#include "base/failpoint.h"

#include <atomic>
#include <cstdlib>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace perdure {
namespace {

using failpoint::Action;
using failpoint::hit;
using std::chrono::milliseconds;

constexpr std::string_view kPoint = "sqlite.commit.before";
constexpr std::string_view kOther = "sqlite.commit.after";
constexpr milliseconds kBound{30'000};

class Failpoint : public testing::Test {
 protected:
  ~Failpoint() override {
    failpoint::disarm_all();
    failpoint::set_counting(false);
    failpoint::set_recording(false);
  }
};
using FailpointDeathTest = Failpoint;

/// How a child process ended that ran `body` and would then exit with 0.
template <class Fn>
int wait_status_of_child(Fn body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST_F(Failpoint, TableNamesEachPointOnceAndSaysWhereItIs) {
  std::set<std::string_view> names;
  for (const FailpointInfo& info : failpoint_table()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.where.empty()) << info.name;
  }
  EXPECT_FALSE(names.empty());
}

TEST_F(Failpoint, LetsEveryonePassWhenNothingIsArmed) {
  EXPECT_TRUE(hit(kPoint).ok());
  EXPECT_TRUE(hit("not in the table").ok());
}

TEST_F(Failpoint, FailsOnceWithTheGivenError) {
  failpoint::arm(kPoint, {.error = busy("injected")});
  EXPECT_TRUE(hit(kOther).ok());
  EXPECT_EQ(hit(kPoint).error(), busy("injected"));
  EXPECT_TRUE(hit(kPoint).ok());
}

TEST_F(Failpoint, SkipsPassesThenActsTheGivenNumberOfTimes) {
  failpoint::arm(kPoint, {.skip = 2, .times = 2});
  std::vector<bool> passed;
  for (int i = 0; i < 6; ++i) passed.push_back(hit(kPoint).ok());
  EXPECT_EQ(passed, (std::vector{true, true, false, false, true, true}));
}

TEST_F(Failpoint, ActsAlwaysUntilDisarmed) {
  failpoint::arm(kPoint, {.times = -1});
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(hit(kPoint).ok());
  failpoint::disarm(kPoint);
  EXPECT_TRUE(hit(kPoint).ok());
}

TEST_F(Failpoint, IsArmedForTheLifetimeOfItsScope) {
  {
    const failpoint::Scoped scoped(kPoint, {.times = -1});
    EXPECT_FALSE(hit(kPoint).ok());
  }
  EXPECT_TRUE(hit(kPoint).ok());
}

TEST_F(Failpoint, CountsPassesWhileAnyPointIsArmed) {
  failpoint::arm(kOther, {.skip = 100});
  (void)hit(kPoint);
  (void)hit(kPoint);
  (void)hit(kOther);
  failpoint::disarm(kOther);
  (void)hit(kPoint);
  EXPECT_EQ(failpoint::hits(kPoint), 2);
  EXPECT_EQ(failpoint::hits(kOther), 1);
}

TEST_F(Failpoint, CountsPassesWithNothingArmedOnRequest) {
  failpoint::set_counting(true);
  (void)hit(kPoint);
  EXPECT_EQ(failpoint::hits(kPoint), 1);
  failpoint::set_counting(false);
  (void)hit(kPoint);
  EXPECT_EQ(failpoint::hits(kPoint), 1);
}

TEST_F(Failpoint, RestartsTheCountsWhenCountingBeginsAnew) {
  failpoint::set_counting(true);
  (void)hit(kPoint);
  failpoint::set_counting(false);
  failpoint::arm(kOther, {});
  EXPECT_EQ(failpoint::hits(kPoint), 0);
}

using Names = std::vector<std::string_view>;

TEST_F(Failpoint, RecordsPassesInTheirOrder) {
  (void)hit(kPoint);
  failpoint::set_recording(true);
  (void)hit(kOther);
  (void)hit(kPoint);
  (void)hit(kOther);
  failpoint::set_recording(false);
  (void)hit(kPoint);
  EXPECT_EQ(failpoint::passed(), (Names{kOther, kPoint, kOther}));
  failpoint::set_recording(true);
  EXPECT_EQ(failpoint::passed(), Names{}) << "each record begins empty";
}

TEST_F(Failpoint, RecordsNoPassThatFailed) {
  failpoint::set_recording(true);
  failpoint::arm(kPoint, {});
  (void)hit(kPoint);
  (void)hit(kPoint);
  EXPECT_EQ(failpoint::passed(), Names{kPoint});
}

TEST_F(Failpoint, RecordsThePausedWhenTheyGoOn) {
  failpoint::set_recording(true);
  failpoint::arm(kPoint, {.kind = Action::Kind::kPause});
  std::jthread passer([] { (void)hit(kPoint); });
  ASSERT_TRUE(failpoint::wait_until_paused(kPoint, kBound));
  (void)hit(kOther);
  failpoint::release(kPoint);
  passer.join();
  EXPECT_EQ(failpoint::passed(), (Names{kOther, kPoint}));
}

TEST_F(Failpoint, HoldsAThreadUntilReleased) {
  std::atomic<bool> passed = false;
  failpoint::arm(kPoint, {.kind = Action::Kind::kPause});
  std::jthread passer([&] {
    EXPECT_TRUE(hit(kPoint).ok());
    passed = true;
  });
  ASSERT_TRUE(failpoint::wait_until_paused(kPoint, kBound));
  EXPECT_FALSE(passed);
  failpoint::release(kPoint);
  passer.join();
  EXPECT_TRUE(passed);
}

TEST_F(Failpoint, HoldsEachThreadAnewWhenArmedForAlways) {
  failpoint::arm(kPoint, {.kind = Action::Kind::kPause, .times = -1});
  std::atomic<int> passes = 0;
  std::jthread passer([&] {
    for (int i = 0; i < 3; ++i) {
      (void)hit(kPoint);
      ++passes;
    }
  });
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(failpoint::wait_until_paused(kPoint, kBound));
    EXPECT_EQ(passes, i);
    failpoint::release(kPoint);
  }
}

TEST_F(Failpoint, ReleasesThePausedWhenItsScopeEnds) {
  std::jthread passer;
  {
    const failpoint::Scoped scoped(kPoint, {.kind = Action::Kind::kPause, .times = -1});
    passer = std::jthread([] { (void)hit(kPoint); });
    ASSERT_TRUE(failpoint::wait_until_paused(kPoint, kBound));
  }
  passer.join();
}

TEST_F(Failpoint, AReleaseWithNobodyPausedDoesNotOpenThePoint) {
  failpoint::arm(kPoint, {.kind = Action::Kind::kPause});
  failpoint::release(kPoint);
  std::jthread passer([] { (void)hit(kPoint); });
  EXPECT_TRUE(failpoint::wait_until_paused(kPoint, kBound));
  failpoint::release(kPoint);
}

TEST_F(Failpoint, SaysWhenNobodyPausedInTime) {
  failpoint::arm(kPoint, {.kind = Action::Kind::kPause});
  EXPECT_FALSE(failpoint::wait_until_paused(kPoint, milliseconds(0)));
}

TEST_F(Failpoint, MayBeArmedWhileOthersPass) {
  std::atomic<bool> done = false;
  std::vector<std::jthread> passers;
  for (int t = 0; t < 2; ++t) {
    passers.emplace_back([&] {
      while (!done) (void)hit(kPoint);
    });
  }
  for (int i = 0; i < 500; ++i) {
    const failpoint::Scoped scoped(kPoint, {.times = -1});
    EXPECT_FALSE(hit(kPoint).ok());
  }
  done = true;
}

TEST_F(Failpoint, KillsTheProcessAtThePoint) {
  const int status = wait_status_of_child([] {
    failpoint::arm(kPoint, {.kind = Action::Kind::kKill, .skip = 1});
    (void)hit(kPoint);
    if (failpoint::hits(kPoint) != 1) ::_exit(2);
    (void)hit(kPoint);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(Failpoint, IsArmedFromTheEnvironment) {
  const int status = wait_status_of_child([] {
    ::setenv("PERDURE_FAILPOINTS", "sqlite.commit.after=kill:skip=3", 1);
    if (!failpoint::arm_from_environment().ok()) ::_exit(2);
    for (int i = 0; i < 4; ++i) (void)hit(kOther);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST_F(Failpoint, IsNotArmedByAnUnsetOrEmptyEnvironment) {
  ::unsetenv("PERDURE_FAILPOINTS");
  EXPECT_TRUE(failpoint::arm_from_environment().ok());
  EXPECT_TRUE(failpoint::arm_from_text("").ok());
  EXPECT_TRUE(hit("not in the table").ok());
}

TEST_F(Failpoint, IsArmedFromTextWithItsOptions) {
  ASSERT_TRUE(failpoint::arm_from_text("sqlite.commit.before=fail:Busy:skip=1:times=-1;"
                                       "sqlite.commit.after=pause")
                  .ok());
  EXPECT_TRUE(hit(kPoint).ok());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hit(kPoint).code(), ErrorCode::kBusy);
  std::jthread passer([] { (void)hit(kOther); });
  EXPECT_TRUE(failpoint::wait_until_paused(kOther, kBound));
  failpoint::release(kOther);
}

TEST_F(Failpoint, NamesThePointInTheErrorOfAPointArmedFromText) {
  ASSERT_TRUE(failpoint::arm_from_text("sqlite.commit.before=fail").ok());
  EXPECT_EQ(hit(kPoint).error(), unavailable("failpoint sqlite.commit.before"));
}

TEST_F(Failpoint, RefusesBadTextAndArmsNothing) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"sqlite.commit.before", "not name=action"},
      {"nowhere=kill", "no such failpoint"},
      {"sqlite.commit.before=explode", "not fail, pause or kill: \"explode\""},
      {"sqlite.commit.before=kill:skip=x", "not a count: \"x\""},
      {"sqlite.commit.before=kill:skip=-1", "not a count: \"-1\""},
      {"sqlite.commit.before=kill:skip=", "not a count: \"\""},
      {"sqlite.commit.before=kill:times=3x", "not a count: \"3x\""},
      {"sqlite.commit.before=kill:Busy", "not skip= or times=: \"Busy\""},
      {"sqlite.commit.before=fail:Gone", "not skip=, times= or an error code: \"Gone\""},
  };
  for (const auto& [text, why] : cases) {
    const Status status = failpoint::arm_from_text("sqlite.commit.after=fail;" + text);
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.error(), invalid_argument("failpoint \"" + text + "\": " + why));
    EXPECT_TRUE(hit(kOther).ok()) << text;
  }
}

TEST_F(FailpointDeathTest, UnknownNamesAbort) {
  EXPECT_DEATH(failpoint::arm("nowhere", {}), "no such failpoint: nowhere");
  EXPECT_DEATH(
      {
        failpoint::arm(kPoint, {});
        (void)hit("nowhere");
      },
      "no such failpoint: nowhere");
}

}  // namespace
}  // namespace perdure
