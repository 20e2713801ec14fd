#include "provider/sqlite/statements.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "base/clock.h"
#include "provider/sqlite/connection.h"
#include "provider/sqlite/migrations.h"
#include "provider/sqlite/schema.h"

namespace perdure::sqlite {

namespace {

class StatementPlans : public ::testing::Test {
 protected:
  StatementPlans() : db_(Connection::open(":memory:", Access::kReadWrite)) {
    EXPECT_TRUE(migrate(*db_, schema_migrations(), VirtualClock::kStart).ok());
  }

  std::vector<std::string> plan(std::string_view sql) {
    std::vector<std::string> steps;
    const std::string text = "EXPLAIN QUERY PLAN " + std::string(sql);
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_->raw(), text.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << text << ": " << sqlite3_errmsg(db_->raw());
    if (statement == nullptr) return steps;
    Query row(statement, "plan");
    while (row.next()) steps.push_back(row.text(3));
    return steps;
  }

  std::unique_ptr<Connection> db_;
};

/// A step that reads a whole table or sorts. The rows of a common table expression and of a
/// subquery are already narrowed.
bool is_wasteful(const std::string& step) {
  if (step.rfind("SCAN ", 0) == 0) {
    const bool narrowed =
        step.rfind("SCAN tree", 0) == 0 || step.find("CONSTANT ROW") != std::string::npos;
    // Partial indexes that hold just the rows which are wanted, in their order.
    const bool by_partial_index = step.find("processes_live") != std::string::npos ||
                                  step.find("worker_queue_delayed") != std::string::npos ||
                                  step.find("worker_queue_expiring") != std::string::npos ||
                                  step.find("_damaged") != std::string::npos;
    return !narrowed && !by_partial_index;
  }
  return step.find("USE TEMP B-TREE FOR ORDER BY") != std::string::npos;
}

/// Counting looks at every row that is counted, but at no other: through a partial index.
bool counts_by_index(Sql id, const std::string& step) {
  const bool counts = id >= Sql::kDepthInstances && id <= Sql::kDepthHeld;
  return counts && step.find(" USING ") != std::string::npos &&
         step.find("INDEX ") != std::string::npos;
}

TEST_F(StatementPlans, UseAnIndexAndNeverSort) {
  for (int i = 0; i < static_cast<int>(Sql::kCount); ++i) {
    const Sql id = static_cast<Sql>(i);
    for (const std::string& step : plan(sql_text(id))) {
      EXPECT_TRUE(!is_wasteful(step) || counts_by_index(id, step)) << sql_name(id) << ": " << step;
    }
  }
}

TEST_F(StatementPlans, OfClaimsUseTheIndexMadeForThem) {
  EXPECT_NE(plan(sql_text(Sql::kReadyWork)).at(0).find("worker_queue_ready"), std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kSuspectWork)).at(0).find("worker_queue_suspects"),
            std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kDueInstances)).at(0).find("instance_ready_due"), std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kDuePastCleanup)).at(0).find("instance_ready_past_cleanup"),
            std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kDueDelayed)).at(0).find("worker_queue_delayed"), std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kLapsedToFree)).at(0).find("worker_queue_claimed"),
            std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kWorkOfEvent)).at(0).find("worker_queue_owner"), std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kFreeExpiredLocks)).at(0).find("instance_ready_locked"),
            std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kEndedQueries)).at(0).find("requests_open"), std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kDropOpenRequests)).at(0).find("requests_open"), std::string::npos);
  EXPECT_NE(plan(sql_text(Sql::kDropExpiredQueries)).at(0).find("INTEGER PRIMARY KEY"),
            std::string::npos)
      << "a long queue is not walked";
  EXPECT_NE(plan(sql_text(Sql::kVisibleMessages)).at(0).find("orchestrator_queue_by_instance"),
            std::string::npos);
}

TEST_F(StatementPlans, AreRecognisedAsWastefulWhenATableIsScanned) {
  const auto steps = plan("SELECT 1 FROM worker_queue WHERE failures = 3");
  EXPECT_TRUE(is_wasteful(steps.at(0))) << steps.at(0);
  const auto sorted = plan("SELECT 1 FROM history WHERE instance_key = 1 ORDER BY at");
  EXPECT_TRUE(is_wasteful(sorted.back())) << sorted.back();
}

}  // namespace

}  // namespace perdure::sqlite
