#include <set>

#include "tests/client/client_fixture.h"

namespace perdure::test::listing_test {

namespace {

class Listing : public ClientTest {
 protected:
  std::vector<std::string> ids(const RunFilter& filter) {
    std::vector<std::string> found;
    for (const RunSummary& run : client_.list(filter).runs) found.push_back(run.id);
    return found;
  }
};

using Ids = std::vector<std::string>;

TEST_P(Listing, FiltersByWhatIsSet) {
  client_.start(greeter, "shop-1");
  client_.start(greeter, "shop-2", {.queue = "side"});
  client_.start(doubled, "math", 1);
  client_.terminate("shop-1", "over");
  EXPECT_EQ(ids({}), (Ids{"math", "shop-2", "shop-1"})) << "newest first";
  EXPECT_EQ(ids({.name = "greeter"}), (Ids{"shop-2", "shop-1"}));
  EXPECT_EQ(ids({.queue = "side"}), (Ids{"shop-2"}));
  EXPECT_EQ(ids({.statuses = {ExecutionStatus::kTerminated}}), (Ids{"shop-1"}));
  EXPECT_EQ(ids({.id_prefix = "shop"}), (Ids{"shop-2", "shop-1"}));
  const TimePoint born = client_.list().runs.back().created_at;
  EXPECT_EQ(ids({.created_before = born}), Ids{});
  EXPECT_EQ(ids({.created_from = born}).size(), 3U);
}

TEST_P(Listing, ShowsARunAsItStands) {
  client_.start(greeter, "a", {.version = "3"});
  client_.terminate("a", "over");
  const RunSummary run = client_.list().runs.at(0);
  EXPECT_EQ(run.id, "a");
  EXPECT_EQ(run.name, "greeter");
  EXPECT_EQ(run.version, "3");
  EXPECT_EQ(run.queue, "default");
  EXPECT_FALSE(run.is_child);
  EXPECT_EQ(run.execution, 1);
  EXPECT_EQ(run.status, ExecutionStatus::kTerminated);
  EXPECT_TRUE(run.completed_at.has_value());
  EXPECT_EQ(run.problem, "");
}

TEST_P(Listing, GoesPageByPageWhileRunsComeAndGo) {
  for (int i = 0; i < 7; ++i) client_.start(greeter, "a" + std::to_string(i));
  std::set<std::string> seen;
  std::string after;
  int pages = 0;
  do {
    const RunPage page = client_.list({}, {.limit = 3, .after = after});
    for (const RunSummary& run : page.runs) EXPECT_TRUE(seen.insert(run.id).second) << run.id;
    after = page.next;
    // The last one of the page goes, a new one comes.
    client_.remove(page.runs.back().id, {.force = true});
    client_.start(greeter, "new-" + std::to_string(pages));
    ++pages;
  } while (!after.empty() && pages < 10);
  EXPECT_EQ(seen, (std::set<std::string>{"a0", "a1", "a2", "a3", "a4", "a5", "a6"}));
  EXPECT_EQ(pages, 3);
}

TEST_P(Listing, FillsItsPagesWhereFewOfManyApply) {
  for (int i = 0; i < 30; ++i) client_.start(greeter, std::to_string(i));
  client_.terminate("3", "x");
  client_.terminate("27", "x");
  const RunPage page = client_.list({.statuses = {ExecutionStatus::kTerminated}}, {.limit = 2});
  EXPECT_EQ(page.runs.size(), 2U);
}

TEST_P(Listing, ShowsTheTreeOfARun) {
  client_.start(family, "parent", 10);
  engine().run();
  EXPECT_EQ(client_.find<int>("parent").wait(kPatience), 42);
  const RunTree tree = client_.tree("parent");
  ASSERT_EQ(tree.nodes.size(), 3U);
  EXPECT_FALSE(tree.more);
  EXPECT_EQ(tree.nodes[0].run.id, "parent");
  EXPECT_EQ(tree.nodes[0].depth, 0);
  EXPECT_EQ(tree.nodes[0].parent, "");
  EXPECT_EQ(tree.nodes[1].run.id, "child-1");
  EXPECT_EQ(tree.nodes[2].run.id, "child-2");
  for (int i : {1, 2}) {
    EXPECT_EQ(tree.nodes[i].depth, 1);
    EXPECT_EQ(tree.nodes[i].parent, "parent");
    EXPECT_TRUE(tree.nodes[i].run.is_child);
    EXPECT_EQ(tree.nodes[i].run.status, ExecutionStatus::kCompleted);
  }
  EXPECT_TRUE(client_.tree("parent", {.max_depth = 0}).more);
  EXPECT_EQ(client_.tree("parent", {.limit = 2}).nodes.size(), 2U);
  EXPECT_EQ(ids({.parent = "parent"}), (Ids{"child-2", "child-1"}));
  EXPECT_EQ(ids({.roots_only = true}), (Ids{"parent"}));
}

TEST_P(Listing, ShowsWhatWaitsInTheQueues) {
  client_.start(doubled, "a", 1);
  client_.start(greeter, "b", {.queue = "other"});
  Registry without_handler;
  without_handler.add(doubled, run_doubled);
  Engine(store_, without_handler).run();
  const QueueStates states = client_.queues();
  ASSERT_EQ(states.queues.size(), 2U);
  EXPECT_EQ(states.queues[0].queue, "default");
  EXPECT_EQ(states.queues[0].runs_ready, 0);
  ASSERT_EQ(states.queues[0].calls.size(), 1U);
  EXPECT_EQ(states.queues[0].calls[0].activity, "twice");
  EXPECT_EQ(states.queues[0].calls[0].ready, 1);
  ASSERT_TRUE(states.queues[0].calls[0].oldest_ready.has_value());
  EXPECT_LE(*states.queues[0].calls[0].oldest_ready, states.now);
  EXPECT_EQ(states.queues[1].queue, "other");
  EXPECT_EQ(states.queues[1].runs_ready, 1);
}

PERDURE_CLIENT_SUITE(Listing);

}  // namespace

}  // namespace perdure::test::listing_test
