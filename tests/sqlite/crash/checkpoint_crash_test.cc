#include <algorithm>

#include <gtest/gtest.h>

#include "tests/sqlite/crash/callers.h"
#include "tests/sqlite/crash/child_process.h"
#include "tests/sqlite/crash/finish.h"
#include "tests/sqlite/crash/great_writes.h"
#include "tests/sqlite/crash/undisturbed.h"

/// A process is killed while it copies its log into the database.
namespace perdure::sqlite::crash::checkpoint_crash_test {
namespace {

class KilledCopying : public ::testing::Test {
 protected:
  void kill(const std::string& what, const std::string& failpoints) {
    ChildProcess child(PERDURE_CRASH_CHILD, {what, path_, "full"}, failpoints);
    ASSERT_EQ(describe_end(child.wait_for_end()), "was ended by SIGKILL")
        << "it must not live past " << what << failpoints;
  }

  /// What was answered is there; the one that was not may be; and the store can be used.
  void expect_all_that_was_answered() {
    EXPECT_EQ(integrity(path_), "ok");
    VirtualClock clock;
    const auto store = open_store(path_, clock, Durability::kRelaxed);
    const std::size_t answered = AnswerFile(path_).count();
    EXPECT_GT(answered, 0U);
    for (std::size_t number = 0; number < answered; ++number) {
      EXPECT_TRUE(store->get_instance(great_run(number)).ok()) << number;
    }
    EXPECT_FALSE(store->get_instance(great_run(answered + 1)).ok());
    finish_everything(*store, clock);
    EXPECT_EQ(violations_at_the_end(path_), std::vector<std::string>{});
  }

  const support::TempDir dir_;
  const std::string path_ = dir_.file("store.db");
};

class KilledCopyingAtAPoint : public KilledCopying,
                              public ::testing::WithParamInterface<std::string> {};

TEST_P(KilledCopyingAtAPoint, LosesNothing) {
  const bool held = GetParam() == "sqlite.checkpoint.restart";
  const std::string what = held ? "great_writes_with_reader" : "great_writes";
  ASSERT_NO_FATAL_FAILURE(kill(what, GetParam() + "=kill"));
  expect_all_that_was_answered();
}

INSTANTIATE_TEST_SUITE_P(Crash,
                         KilledCopyingAtAPoint,
                         ::testing::ValuesIn(points_of("sqlite.checkpoint.")),
                         [](const auto& point) {
                           std::string name = point.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

/// Counted from the first: about 4,000 pages are copied and then synced, again and again.
class KilledCopyingAtAChange : public KilledCopying, public ::testing::WithParamInterface<int> {};

TEST_P(KilledCopyingAtAChange, LosesNothing) {
  ASSERT_NO_FATAL_FAILURE(kill("great_writes_dying_at_" + std::to_string(GetParam()), ""));
  expect_all_that_was_answered();
}

INSTANTIATE_TEST_SUITE_P(Crash,
                         KilledCopyingAtAChange,
                         ::testing::Values(1, 2, 1'000, 3'900, 4'100, 9'000, 15'900));

}  // namespace
}  // namespace perdure::sqlite::crash::checkpoint_crash_test
