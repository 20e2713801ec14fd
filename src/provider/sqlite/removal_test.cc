#include "provider/sqlite/removal.h"

#include <map>

#include <gtest/gtest.h>

#include "provider/sqlite/options.h"
#include "provider/sqlite/sqlite_provider.h"
#include "provider/token_mint.h"
#include "tests/support/temp_dir.h"

/// What a delete leaves in the tables; what it does is held to the conformance suite.
namespace perdure::sqlite {
namespace {

class RemovedRows : public ::testing::Test {
 protected:
  RemovedRows() {
    Options options;
    options.path = path_;
    options.durability = Durability::kRelaxed;
    auto provider = open(options);
    EXPECT_TRUE(provider.ok());
    provider_ = std::move(provider).value();
    auto epoch = provider_->register_process({.host = "test", .pid = 1, .queues = {"default"}});
    EXPECT_TRUE(epoch.ok());
    mint_.emplace(*epoch);
  }

  /// Starts an instance and commits a turn with work, a timer, a child and a long history.
  void start_tree(const std::string& id) {
    StartOrchestration request;
    request.id = id;
    request.name = id;
    ASSERT_TRUE(provider_->start_orchestration(request).ok());
    FetchOrchestrationItems fetch;
    fetch.epoch = mint_->epoch();
    fetch.queue = "default";
    fetch.served = {{id, ""}};
    fetch.tokens = mint_->next(1);
    const auto fetched = provider_->fetch_orchestration_items(fetch);
    ASSERT_TRUE(fetched.ok() && fetched->items.size() == 1);
    const OrchestrationItem& item = fetched->items[0];
    TurnCommit commit;
    commit.instance = item.instance;
    commit.execution = item.execution;
    commit.lock = item.lock;
    for (std::int64_t i = 2; i < 40; ++i) {
      commit.events.push_back({.id = EventId{i}, .kind = EventKind::kActivityScheduled});
    }
    for (std::int64_t i = 2; i < 12; ++i) {
      NewWork work;
      work.event = EventId{i};
      work.queue = "default";
      work.name = "task";
      commit.work.push_back(work);
    }
    commit.timers.push_back({.event = EventId{12}, .due = kForever});
    NewChild child;
    child.event = EventId{13};
    child.id = id + "/child";
    child.name = "unserved";
    child.queue = "default";
    commit.children.push_back(child);
    AckOrchestrationItems ack;
    ack.entries.push_back(std::move(commit));
    const auto acked = provider_->ack_orchestration_items(std::move(ack));
    ASSERT_TRUE(acked.ok());
    ASSERT_TRUE(acked->at(0).ok()) << acked->at(0).error().message;
    StartOrchestration next = request;
    next.on_conflict = OnConflict::kCancelExisting;
    ASSERT_TRUE(provider_->start_orchestration(next).ok()) << "leaves a stored start";
  }

  /// Rows of every table that can hold something of an instance.
  std::map<std::string, std::int64_t> rows() {
    std::map<std::string, std::int64_t> counts;
    auto db = Connection::open(path_, Access::kReadOnly);
    for (const char* table : {"instances",
                              "executions",
                              "history",
                              "orchestrator_queue",
                              "instance_ready",
                              "worker_queue",
                              "pending_starts",
                              "cascades",
                              "removals"}) {
      Query row = db->query_text("SELECT count(*) FROM " + std::string(table));
      counts[table] = row.next() ? row.integer(0) : -1;
    }
    return counts;
  }

  support::TempDir dir_;
  const std::string path_ = dir_.file("store.db");
  std::unique_ptr<Provider> provider_;
  std::optional<TokenMint> mint_;
};

TEST_F(RemovedRows, AreAllRowsOfTheTree) {
  start_tree("kept");
  const auto before = rows();
  start_tree("gone");
  ASSERT_NE(rows(), before);

  const auto answer = provider_->delete_instance({.id = "gone", .force = true});

  ASSERT_TRUE(answer.ok());
  EXPECT_FALSE(answer->removing);
  EXPECT_EQ(rows(), before);
}

TEST_F(RemovedRows, AreAllRowsOfTheTreeInPortions) {
  for (const std::int64_t limit : {1, 2, 3, 7, 50}) {
    const auto before = rows();
    start_tree("gone");
    auto answer = provider_->delete_instance({.id = "gone", .force = true, .limit = limit});
    ASSERT_TRUE(answer.ok());
    bool removing = answer->removing;
    for (int round = 0; round < 1'000 && removing; ++round) {
      const auto rest = provider_->carry_on_removals({.limit = limit});
      ASSERT_TRUE(rest.ok());
      removing = rest->removing;
    }
    EXPECT_FALSE(removing) << limit;
    EXPECT_EQ(rows(), before) << limit;
  }
}

}  // namespace
}  // namespace perdure::sqlite
