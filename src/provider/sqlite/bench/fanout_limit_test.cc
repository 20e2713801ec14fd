#include "provider/sqlite/bench/fanout_limit.h"

#include <gtest/gtest.h>

#include "provider/sqlite/bench/row_counts.h"
#include "provider/sqlite/connection.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

using namespace std::chrono_literals;

class FanoutLimit : public ::testing::Test {
 protected:
  support::TempDir dir_;
  const std::string path_ = dir_.file("limit.db");
};

TEST_F(FanoutLimit, LeavesTheRowsOfItsRuns) {
  auto limit = RunLimit::make({.path = path_});
  ASSERT_TRUE(limit.ok()) << limit;
  for (int i = 0; i < 2; ++i) {
    const auto rate = (*limit)->run(1ns);
    ASSERT_TRUE(rate.ok()) << rate;
    EXPECT_GT(*rate, 0);
  }
  EXPECT_TRUE((*limit)->check_rows().ok()) << (*limit)->check_rows();
  const auto rows = count_rows(path_);
  ASSERT_TRUE(rows.ok()) << rows;
  const std::int64_t runs = 2 * RunLimit::kRunsPerCommit;
  EXPECT_EQ(
      *rows,
      (RowCounts{.instances = runs, .executions = runs, .history = 12 * runs, .events = runs}));
}

TEST_F(FanoutLimit, HasOneActivityInATurnOfAChain) {
  auto limit = RunLimit::make({.path = path_, .activities = 10, .turns = 11});
  ASSERT_TRUE(limit.ok()) << limit;
  ASSERT_TRUE((*limit)->run(1ns).ok());
  EXPECT_TRUE((*limit)->check_rows().ok()) << (*limit)->check_rows();
  EXPECT_EQ(count_rows(path_)->history, 22 * RunLimit::kRunsPerCommit);
}

TEST_F(FanoutLimit, SeesRowsThatAreMissing) {
  auto limit = RunLimit::make({.path = path_});
  ASSERT_TRUE(limit.ok()) << limit;
  ASSERT_TRUE((*limit)->run(1ns).ok());
  Connection::open(path_, Access::kReadWrite)
      ->exec("DELETE FROM history WHERE instance_key = 1 AND event_id = 2");
  EXPECT_EQ((*limit)->check_rows().code(), ErrorCode::kCorrupt);
}

TEST_F(FanoutLimit, RefusesTurnsOfDifferentWidthAndAFileThatExists) {
  EXPECT_EQ(RunLimit::make({.path = path_, .activities = 5, .turns = 3}).code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(RunLimit::make({.path = path_, .turns = 1}).code(), ErrorCode::kInvalidArgument);
  ASSERT_TRUE(RunLimit::make({.path = path_}).ok());
  EXPECT_EQ(RunLimit::make({.path = path_}).code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace perdure::sqlite
