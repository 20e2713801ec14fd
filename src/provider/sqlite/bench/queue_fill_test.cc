#include "provider/sqlite/bench/queue_fill.h"

#include <gtest/gtest.h>

#include "provider/sqlite/bench/row_counts.h"
#include "provider/sqlite/options.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

TEST(FillQueues, PutsTheOldRowsInFrontOfTheReadyOnes) {
  const support::TempDir dir;
  const auto path = dir.file("store.db");
  const Status filled =
      fill_queues(path, {.sleeping = 20, .unserved = 30, .locked_messages = 40, .ready = 50});
  ASSERT_TRUE(filled.ok()) << filled;
  const RowCounts expected{.instances = 101,
                           .executions = 101,
                           .history = 101,
                           .messages = 140,
                           .work = 100,
                           .locks = 1,
                           .events = 101};
  EXPECT_EQ(to_string(*count_rows(path)), to_string(expected));

  const auto store = std::move(open({.path = path})).value();
  const auto epoch = store->register_process({.host = "here", .pid = 1});
  FetchOrchestrationItems turns{.epoch = *epoch, .queue = "default"};
  turns.served = {{kServedName, ""}};
  FetchWorkItems work{.epoch = *epoch, .queue = "default", .names = {kServedName}};
  for (std::int64_t serial = 1; serial <= 200; ++serial) {
    (serial % 2 == 0 ? turns.tokens : work.tokens).push_back({*epoch, serial});
  }
  EXPECT_EQ(store->fetch_orchestration_items(turns)->items.size(), 50U);
  EXPECT_EQ(store->fetch_work_items(work)->items.size(), 50U);
}

}  // namespace
}  // namespace perdure::sqlite
