#include "provider/sqlite/bench/page_cache.h"

#include <gtest/gtest.h>

#include "provider/sqlite/bench/open_at_test.h"
#include "provider/sqlite/options.h"
#include "provider/sqlite/sqlite_provider.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// Writes and reads some 4 MiB of pages.
void fill(Provider& store) {
  const Status filled = dynamic_cast<SqliteProvider&>(store).run_sql(
      "CREATE TABLE filler AS WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n "
      "WHERE i < 1000) SELECT i, randomblob(4000) AS bytes FROM n; "
      "SELECT sum(length(bytes)) FROM filler;");
  ASSERT_TRUE(filled.ok()) << filled;
}

TEST(PageCache, IsBoundedAndEmptied) {
  const support::TempDir dir;
  const auto large = open_at(dir.file("large.db"));
  std::int64_t before = sqlite_bytes();
  fill(*large);
  EXPECT_GT(sqlite_bytes() - before, 3 * kMiB);
  ASSERT_TRUE(empty_page_cache(*large).ok());
  EXPECT_LT(sqlite_bytes() - before, kMiB);

  const auto small = open_at(dir.file("small.db"));
  ASSERT_TRUE(limit_page_cache(*small, kMiB).ok());
  before = sqlite_bytes();
  fill(*small);
  EXPECT_LT(sqlite_bytes() - before, 2 * kMiB);
}

}  // namespace
}  // namespace perdure::sqlite
