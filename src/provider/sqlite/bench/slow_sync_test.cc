#include "provider/sqlite/bench/slow_sync.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "provider/sqlite/bench/open_at_test.h"
#include "provider/sqlite/options.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

using namespace std::chrono_literals;

TEST(SlowSync, SlowsDownEachDurableCommitOfAStoreAndEndsWithItself) {
  const support::TempDir dir;
  const auto path = dir.file("store.db");
  {
    const SlowSync slow(5ms);
    const auto store = open_at(path, Durability::kFull);
    const std::int64_t before = slow.count();
    const auto begin = steady_now();
    const auto epoch = store->register_process({.host = "here", .pid = 1});
    ASSERT_TRUE(epoch.ok()) << epoch;
    ASSERT_TRUE(store->heartbeat_process({*epoch}).ok());
    EXPECT_GE(slow.count(), before + 2);
    EXPECT_GE(steady_now() - begin, 10ms);
  }
  const auto again = open_at(path, Durability::kFull);
  EXPECT_EQ(again->list_processes()->size(), 1U);
}

TEST(SlowSync, LeavesRelaxedCommitsAlone) {
  const support::TempDir dir;
  const SlowSync slow(1ms);
  const auto store = open_at(dir.file("store.db"), Durability::kRelaxed);
  ASSERT_TRUE(store->register_process({.host = "here", .pid = 1}).ok());
  const std::int64_t before = slow.count();
  ASSERT_TRUE(store->register_process({.host = "here", .pid = 2}).ok());
  EXPECT_EQ(slow.count(), before);
}

}  // namespace
}  // namespace perdure::sqlite
