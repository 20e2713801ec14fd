#include "provider/sqlite/bench/limit.h"

#include <gtest/gtest.h>

#include "provider/sqlite/connection.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

using namespace std::chrono_literals;

class Limit : public ::testing::Test {
 protected:
  TurnLimit::Setup setup() const {
    TurnLimit::Setup setup{.path = path_, .instances = 10, .turns_each = 2};
    setup.turn.events.resize(3);
    for (HistoryEvent& event : setup.turn.events) event.kind = EventKind::kSideEffectRecorded;
    setup.turn.work.resize(1);
    setup.turn.work[0].queue = "default";
    setup.turn.work[0].name = "charge";
    return setup;
  }

  support::TempDir dir_;
  const std::string path_ = dir_.file("limit.db");
};

TEST_F(Limit, WritesTheRowsOfTurnsInPortionsOfAnySize) {
  auto limit = TurnLimit::make(setup());
  ASSERT_TRUE(limit.ok()) << limit;
  for (const std::int64_t per_commit : {1, 3, 128}) {
    const auto rate = (*limit)->run(per_commit, 20ms);
    ASSERT_TRUE(rate.ok()) << rate;
    EXPECT_GT(*rate, 0);
    const Status rows = (*limit)->check_rows();
    EXPECT_TRUE(rows.ok()) << rows;
  }
}

TEST_F(Limit, SeesRowsThatAreMissing) {
  auto limit = TurnLimit::make(setup());
  ASSERT_TRUE(limit.ok()) << limit;
  ASSERT_TRUE((*limit)->run(1, 1ms).ok());
  Connection::open(path_, Access::kReadWrite)
      ->exec("DELETE FROM history WHERE instance_key = 1 AND event_id = 2");
  EXPECT_EQ((*limit)->check_rows().code(), ErrorCode::kCorrupt);
}

TEST_F(Limit, RefusesAnotherTurnAndAFileThatExists) {
  TurnLimit::Setup two_events = setup();
  two_events.turn.events.pop_back();
  EXPECT_EQ(TurnLimit::make(two_events).code(), ErrorCode::kInvalidArgument);
  ASSERT_TRUE(TurnLimit::make(setup()).ok());
  EXPECT_EQ(TurnLimit::make(setup()).code(), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace perdure::sqlite
