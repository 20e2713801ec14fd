#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/client.h>

#include "tests/processes/child.h"
#include "tests/processes/histories.h"
#include "tests/processes/marks.h"
#include "tests/processes/updates_code.h"
#include "tests/processes/world.h"
#include "tests/support/temp_dir.h"

/// One run, changed by several processes and served by several, one of which is killed.
namespace perdure::test::updates_test {

namespace {

using namespace std::chrono_literals;

constexpr const char* kRun = "books";

/// What processes were told: receipts by the ids of updates.
class Answers {
 public:
  /// A line of the child.
  void add(const std::string& line) {
    std::istringstream words(line);
    std::string id;
    Receipt receipt;
    ASSERT_TRUE(words >> id >> receipt.doubled >> receipt.position) << line;
    ++lines_;
    told_[id].emplace(receipt.doubled, receipt.position);
  }
  /// All that it says until it has ended well.
  void add_all(Child& child) {
    for (std::string line = child.line(); !line.empty(); line = child.line()) {
      ASSERT_NO_FATAL_FAILURE(add(line));
    }
    EXPECT_EQ(child.end(), "returned 0");
  }

  /// Each update has one receipt, whoever was told it: the right value, a position of its own.
  void expect_right() const {
    EXPECT_EQ(told_.size(), static_cast<std::size_t>(kUpdates));
    std::set<int> positions;
    for (int update = 0; update < kUpdates; ++update) {
      const auto found = told_.find(update_id(update));
      ASSERT_NE(found, told_.end()) << update;
      ASSERT_EQ(found->second.size(), 1U) << "told differently of " << update;
      EXPECT_EQ(found->second.begin()->first, 2 * update);
      positions.insert(found->second.begin()->second);
    }
    EXPECT_EQ(positions.size(), static_cast<std::size_t>(kUpdates));
    EXPECT_EQ(*positions.begin(), 1);
    EXPECT_EQ(*positions.rbegin(), kUpdates);
  }
  int lines() const { return lines_; }
  bool operator==(const Answers& other) const { return told_ == other.told_; }

 private:
  std::map<std::string, std::set<std::pair<int, int>>> told_;
  int lines_ = 0;
};

class Updates : public ::testing::Test {
 protected:
  using Spawned = std::unique_ptr<Child>;

  Spawned spawn(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin() + 1, url_);
    return std::make_unique<Child>(PERDURE_UPDATES_CHILD, std::move(arguments));
  }
  Spawned spawn_worker(std::size_t number) {
    Spawned worker = spawn({"work", dir_.file("marks"), std::to_string(number)});
    EXPECT_EQ(worker->line(), "ready");
    return worker;
  }
  std::vector<Spawned> spawn_senders() {
    std::vector<Spawned> senders;
    for (int i = 0; i < kSenders; ++i) senders.push_back(spawn({"send", kRun, std::to_string(i)}));
    return senders;
  }

  /// What the history of the run says: each update accepted once and completed once.
  void expect_each_once() {
    std::map<std::int64_t, std::string> accepted;
    std::multiset<std::string> ids;
    std::multiset<std::string> completed;
    for (const RunEvent& event : client_.history(kRun, {.limit = 100'000}).events) {
      if (event.kind == "update_accepted") {
        accepted[event.id] = event.text;
        ids.insert(event.text);
      }
      if (event.kind == "update_completed") completed.insert(accepted[event.source]);
    }
    for (int update = 0; update < kUpdates; ++update) {
      EXPECT_EQ(ids.count(update_id(update)), 1U) << update;
      EXPECT_EQ(completed.count(update_id(update)), 1U) << update;
    }
    EXPECT_EQ(ids.size(), static_cast<std::size_t>(kUpdates));
    EXPECT_EQ(completed.size(), static_cast<std::size_t>(kUpdates));
  }
  /// Ends the run: nothing is left of it.
  void close() {
    EXPECT_EQ(client_.query(kRun, entries, {.timeout = 60s}), kUpdates);
    client_.signal(kRun, close_ledger);
    EXPECT_EQ(client_.find<int>(kRun).wait(60s), kUpdates);
    for (const StoredExecution& each : read_all(*store_)) EXPECT_EQ(violation_in(each), "");
    EXPECT_EQ(left_in_queues(*store_), "");
  }
  int completed() const {
    int found = 0;
    for (const RunEvent& event : client_.history(kRun, {.limit = 100'000}).events) {
      if (event.kind == "update_completed") ++found;
    }
    return found;
  }

  support::TempDir dir_;
  std::string url_ = "sqlite:" + dir_.file("store.db");
  Marks marks_{dir_.file("marks")};
  std::shared_ptr<Provider> store_ = open(url_);
  Client client_{store_};
};

TEST_F(Updates, OfManyProcessesAreAppliedOnceThoughAWorkerIsKilled) {
  (void)client_.start(ledger, kRun);
  // The first worker has calls of updates in its hands, and does not let go of them.
  marks_.of(0).hold = 1;
  Spawned doomed = spawn_worker(0);
  std::vector<Spawned> senders = spawn_senders();
  ASSERT_TRUE(eventually([&] { return marks_.of(0).handlers > 0; }));
  Spawned survivor = spawn_worker(1);
  ASSERT_TRUE(eventually([&] { return completed() >= 20; }));
  EXPECT_LT(completed(), kUpdates);
  EXPECT_GT(marks_.of(0).handlers, 0);
  doomed->send(SIGKILL);
  EXPECT_EQ(doomed->end(), "was ended by SIGKILL");

  Answers told;
  for (const Spawned& sender : senders) ASSERT_NO_FATAL_FAILURE(told.add_all(*sender));
  told.expect_right();
  EXPECT_GT(told.lines(), 2 * kUpdates) << "each was sent twice, some by two processes";
  expect_each_once();

  // Whoever asks later is told the same: after the end of the run, too.
  close();
  Answers found;
  const Spawned finder = spawn({"find", kRun});
  ASSERT_NO_FATAL_FAILURE(found.add_all(*finder));
  EXPECT_TRUE(found == told);
  EXPECT_EQ(end_quietly(*survivor), "returned 0");
}

TEST_F(Updates, ThatWereSentBeforeAnyWorkerLivesAreAppliedOnce) {
  (void)client_.start(ledger, kRun);
  std::vector<Spawned> senders = spawn_senders();
  // All of them have tried more than once by then: nobody has answered.
  ASSERT_TRUE(eventually([&] {
    for (int update = 0; update < kUpdates; ++update) {
      try {
        client_.find_update<Receipt>(kRun, update_id(update)).wait(0ms);
      } catch (const NotFound&) {
        return false;  // not sent yet
      } catch (const Unavailable&) {
      }
    }
    return true;
  }));
  Spawned first = spawn_worker(0);
  Spawned second = spawn_worker(1);
  Answers told;
  for (const Spawned& sender : senders) ASSERT_NO_FATAL_FAILURE(told.add_all(*sender));
  told.expect_right();
  expect_each_once();
  close();
  EXPECT_EQ(end_quietly(*first), "returned 0");
  EXPECT_EQ(end_quietly(*second), "returned 0");
}

}  // namespace

}  // namespace perdure::test::updates_test
