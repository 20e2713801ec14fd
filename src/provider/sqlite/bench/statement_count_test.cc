#include "provider/sqlite/bench/statement_count.h"

#include <gtest/gtest.h>

#include "provider/sqlite/connection.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

TEST(StatementCount, CountsWhatLooksAtTablesOnConnectionsOpenedMeanwhile) {
  const support::TempDir dir;
  const auto path = dir.file("store.db");
  const auto before = Connection::open(path, Access::kReadWrite);
  before->exec("CREATE TABLE things (number INTEGER)");
  {
    const StatementCount statements;
    const auto db = Connection::open(path, Access::kReadWrite);
    const std::int64_t opened = statements.count();
    db->exec("PRAGMA cache_size = -100");
    db->exec("BEGIN IMMEDIATE");
    EXPECT_EQ(statements.count(), opened);
    db->exec("INSERT INTO things VALUES (1), (2)");
    db->exec("COMMIT");
    EXPECT_EQ(statements.count(), opened + 1);
    EXPECT_GT(db->data_version(), 0);
    EXPECT_EQ(statements.count(), opened + 1);
    db->exec("SELECT * FROM things");
    EXPECT_EQ(statements.count(), opened + 2);
    before->exec("SELECT * FROM things");
    EXPECT_EQ(statements.count(), opened + 2) << "opened before it began to count";
  }
  const StatementCount anew;
  const std::int64_t begun = anew.count();
  before->exec("SELECT * FROM things");
  EXPECT_EQ(anew.count(), begun);
}

}  // namespace
}  // namespace perdure::sqlite
