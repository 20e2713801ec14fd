#include <algorithm>
#include <ostream>

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "tests/sqlite/crash/callers.h"
#include "tests/sqlite/crash/child_process.h"
#include "tests/sqlite/crash/finish.h"
#include "tests/sqlite/crash/store_rows.h"
#include "tests/support/temp_dir.h"

/// A process is killed while it writes for several callers at once. What each of them asked for has
/// happened or not, and has happened if the caller was told.
namespace perdure::sqlite::crash::group_crash_test {
namespace {

/// One kill, and what it must leave.
struct Case {
  std::string name;
  std::string failpoints;
  std::string what = "group";
  std::size_t written = 0;   ///< callers whose writes are in the store
  std::size_t answered = 0;  ///< callers that were told
};

void PrintTo(const Case& kill, std::ostream* out) {
  *out << kill.name;
}

std::string kill_at(const std::string& point, std::size_t skip) {
  return point + "=kill:skip=" + std::to_string(skip);
}

/// The group is written as a whole.
std::vector<Case> together() {
  const std::size_t all = Callers::count();
  std::vector<Case> cases{
      {.name = "begin_before", .failpoints = kill_at("sqlite.begin.before", 0)},
      {.name = "begin_after", .failpoints = kill_at("sqlite.begin.after", 0)},
      {.name = "commit_before", .failpoints = kill_at("sqlite.commit.before", 0)},
      {.name = "commit_after", .failpoints = kill_at("sqlite.commit.after", 0), .written = all},
      {.name = "answer_before", .failpoints = kill_at("sqlite.answer.before", 0), .written = all},
  };
  for (std::size_t i = 0; i < all; ++i) {
    const std::string number = "_" + std::to_string(i);
    cases.push_back(
        {.name = "entry_before" + number, .failpoints = kill_at("sqlite.entry.before", i)});
    cases.push_back(
        {.name = "entry_after" + number, .failpoints = kill_at("sqlite.entry.after", i)});
    cases.push_back({.name = "in_the_answer_of" + number,
                     .failpoints = "",
                     .what = "group_killed_by_" + std::to_string(i),
                     .written = all,
                     .answered = i});
  }
  return cases;
}

/// Its second entry fails, it is rolled back and written one by one.
std::vector<Case> one_by_one() {
  const std::string fails = "sqlite.entry.after=fail:Unavailable:skip=1;";
  std::vector<Case> cases;
  for (std::size_t i = 0; i < Callers::count(); ++i) {
    const std::string number = "_alone_" + std::to_string(i);
    // The group as a whole has passed these before.
    cases.push_back({.name = "begin_before" + number,
                     .failpoints = fails + kill_at("sqlite.begin.before", i + 1),
                     .written = i,
                     .answered = i});
    cases.push_back({.name = "begin_after" + number,
                     .failpoints = fails + kill_at("sqlite.begin.after", i + 1),
                     .written = i,
                     .answered = i});
    cases.push_back({.name = "entry_before" + number,
                     .failpoints = fails + kill_at("sqlite.entry.before", i + 2),
                     .written = i,
                     .answered = i});
    cases.push_back({.name = "commit_before" + number,
                     .failpoints = fails + kill_at("sqlite.commit.before", i),
                     .written = i,
                     .answered = i});
    cases.push_back({.name = "commit_after" + number,
                     .failpoints = fails + kill_at("sqlite.commit.after", i),
                     .written = i + 1,
                     .answered = i});
    cases.push_back({.name = "answer_before" + number,
                     .failpoints = fails + kill_at("sqlite.answer.before", i),
                     .written = i + 1,
                     .answered = i});
  }
  return cases;
}

/// Its commit fails, and the outcome is looked up.
std::vector<Case> looked_up() {
  std::vector<Case> cases;
  for (const bool lands : {true, false}) {
    for (const char* point : {"before", "seen", "after"}) {
      const std::string fails = lands ? "sqlite.commit.after=fail;" : "sqlite.commit.before=fail;";
      cases.push_back({.name = std::string("look_") + point + (lands ? "_landed" : "_lost"),
                       .failpoints = fails + kill_at(std::string("sqlite.look.") + point, 0),
                       .written = lands ? Callers::count() : 0});
    }
  }
  return cases;
}

std::vector<Case> cases() {
  std::vector<Case> all = together();
  for (auto more : {one_by_one(), looked_up()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

void expect_answered(std::size_t caller, const Status& answer) {
  EXPECT_TRUE(answer.ok()) << "caller " << caller << ": " << answer.error().message;
}

/// The rows of a store whose callers were answered one after the other: before, and after each.
std::vector<std::string> states() {
  const support::TempDir dir;
  const std::string path = dir.file("store.db");
  World world(path, Durability::kRelaxed, Driver::kCalls);
  const Callers callers(world);
  std::vector<std::string> all{all_rows(path)};
  for (std::size_t caller = 0; caller < Callers::count(); ++caller) {
    callers.call(caller, world.store(), expect_answered);
    all.push_back(all_rows(path));
    EXPECT_NE(all[caller], all[caller + 1]) << "the caller writes nothing";
  }
  return all;
}

class KilledGroup : public ::testing::TestWithParam<Case> {
 protected:
  const support::TempDir dir_;
  const std::string path_ = dir_.file("store.db");
};

TEST_P(KilledGroup, LeavesEachCallerAllOrNothingAndWhatItWasTold) {
  const std::vector<std::string> expected = states();
  ChildProcess child(PERDURE_CRASH_CHILD, {GetParam().what, path_, "full"}, GetParam().failpoints);
  ASSERT_EQ(describe_end(child.wait_for_end()), "was ended by SIGKILL");

  EXPECT_EQ(integrity(path_), "ok");
  EXPECT_EQ(all_rows(path_), expected.at(GetParam().written));
  EXPECT_EQ(AnswerFile(path_).count(), GetParam().answered);

  // All of them ask again; turns and results that were written are refused.
  support::TempDir other;
  World like(other.file("store.db"), Durability::kRelaxed, Driver::kCalls);
  const Callers callers(like);
  VirtualClock clock(like.now());
  const auto store = open_store(path_, clock, Durability::kRelaxed, Driver::kCalls);
  callers.call_together(*store, [](std::size_t caller, const Status& answer) {
    EXPECT_TRUE(answer.ok() || answer.code() == ErrorCode::kLockLost) << "caller " << caller;
  });
  EXPECT_EQ(all_rows(path_), expected.back());
  finish_everything(*store, clock);
  EXPECT_EQ(violations_at_the_end(path_), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Crash, KilledGroup, ::testing::ValuesIn(cases()), [](const auto& kill) {
  return kill.param.name;
});

TEST(GroupOfCallers, IsOneCommit) {
  const support::TempDir dir;
  const std::string path = dir.file("store.db");
  World world(path, Durability::kRelaxed, Driver::kCalls);
  const Callers callers(world);
  failpoint::set_counting(true);
  callers.call_together(world.store(), expect_answered);
  failpoint::set_counting(false);
  EXPECT_EQ(failpoint::hits("sqlite.commit.after"), 1);
  EXPECT_EQ(static_cast<std::size_t>(failpoint::hits("sqlite.entry.after")), Callers::count());
  EXPECT_EQ(all_rows(path), states().back());
}

}  // namespace
}  // namespace perdure::sqlite::crash::group_crash_test
