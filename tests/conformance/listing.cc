#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Looking at what is in the store: lists, trees, executions, stats.
namespace perdure::conformance {

class Listing : public Conformance {
 protected:
  using Ids = std::vector<std::string>;

  InstancePage page(const ListInstances& request) {
    auto answer = store().list_instances(request);
    if (!answer.ok()) throw std::runtime_error("list: " + answer.error().message);
    return std::move(answer).value();
  }

  /// All pages, whatever their size.
  Ids list(const InstanceFilter& filter, std::size_t limit = 100) {
    ListInstances request;
    request.filter = filter;
    request.limit = limit;
    Ids ids;
    for (int round = 0; round < 1'000; ++round) {
      InstancePage found = page(request);
      EXPECT_LE(found.instances.size(), limit);
      for (const InstanceSummary& summary : found.instances) ids.push_back(summary.id);
      if (!found.next) return ids;
      request.after = found.next;
    }
    ADD_FAILURE() << "the list never ends";
    return ids;
  }

  /// One run in each of these statuses, by their names.
  void one_of_each() {
    start_and_run("running");
    start_and_run("canceling");
    cancel("canceling");
    commit(turn(lock("canceling")));
    for (const auto& [id, status] : {std::pair{"completed", ExecutionStatus::kCompleted},
                                     std::pair{"failed", ExecutionStatus::kFailed}}) {
      start(id);
      end(id, status);
    }
    start("canceled");
    cancel("canceled");
    start("terminated");
    terminate("terminated");
  }

  InstanceTree tree(const TreeQuery& query) {
    auto answer = store().get_tree(query);
    if (!answer.ok()) throw std::runtime_error("tree: " + answer.error().message);
    return std::move(answer).value();
  }

  static Ids ids_of(const InstanceTree& tree) {
    Ids ids;
    for (const TreeNode& node : tree.nodes) ids.push_back(node.instance.id);
    return ids;
  }

  /// root -> a (-> deep -> deepest), b
  void family() {
    start("root");
    start_child_of("root", "a");
    poke("root");
    start_child_of("root", "b", ClosePolicy::kAbandon);
    poke("a");
    start_child_of("a", "deep");
    poke("deep");
    start_child_of("deep", "deepest");
  }
};

TEST_P(Listing, IsNewestFirst) {
  for (const char* id : {"b", "c", "a"}) start(id);
  EXPECT_EQ(list({}), (Ids{"a", "c", "b"}));
}

TEST_P(Listing, OfAnEmptyStoreIsEmpty) {
  const InstancePage found = page({});
  EXPECT_TRUE(found.instances.empty());
  EXPECT_FALSE(found.next);
}

TEST_P(Listing, TellsWhatItKnowsOfAnInstance) {
  const TimePoint created = now();
  start("root");
  start_child_of("root", "child");
  advance(5s);
  cancel("child");
  advance(5s);
  end("child", ExecutionStatus::kCanceled);

  const InstanceSummary child = page({}).instances.at(0);

  EXPECT_EQ(child.id, "child");
  EXPECT_EQ(child.key, info("child").key);
  EXPECT_EQ(child.name, kFlow);
  EXPECT_EQ(child.version, kVersion);
  EXPECT_EQ(child.queue, kQueue);
  EXPECT_EQ(child.parent, info("child").parent);
  EXPECT_EQ(child.created_at, created);
  EXPECT_EQ(child.execution, ExecutionNo{1});
  EXPECT_EQ(child.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(child.started_at, created);
  EXPECT_EQ(child.cancel_requested_at, created + 5s);
  EXPECT_EQ(child.completed_at, created + 10s);
  EXPECT_FALSE(child.problem);
}

TEST_P(Listing, ShowsTheCurrentExecution) {
  start("loop");
  end("loop", ExecutionStatus::kContinuedAsNew);

  const InstanceSummary summary = page({}).instances.at(0);

  EXPECT_EQ(summary.execution, ExecutionNo{2});
  EXPECT_EQ(summary.status, ExecutionStatus::kRunning);
}

TEST_P(Listing, PagesMeetEveryInstanceOnce) {
  Ids expected;
  for (int i = 0; i < 23; ++i) {
    start(std::to_string(i));
    expected.insert(expected.begin(), std::to_string(i));
  }
  for (const std::size_t limit : {std::size_t{1}, std::size_t{7}, std::size_t{23}}) {
    EXPECT_EQ(list({}, limit), expected) << "pages of " << limit;
  }
}

TEST_P(Listing, CursorStaysValidWhenInstancesComeAndGo) {
  for (const char* id : {"1", "2", "3", "4", "5"}) {
    start(id);
    end(id, ExecutionStatus::kCompleted);
  }
  ListInstances request;
  request.limit = 2;
  request.after = page(request).next;
  ASSERT_TRUE(request.after);
  for (const char* id : {"4", "3"}) {
    ASSERT_TRUE(store().delete_instance({.id = id, .force = false, .limit = 100}).ok());
  }
  start("6");

  const InstancePage found = page(request);

  ASSERT_EQ(found.instances.size(), 2u);
  EXPECT_EQ(found.instances[0].id, "2");
  EXPECT_EQ(found.instances[1].id, "1");
}

TEST_P(Listing, FiltersByEachStatus) {
  one_of_each();
  for (const auto status : {ExecutionStatus::kRunning,
                            ExecutionStatus::kCanceling,
                            ExecutionStatus::kCompleted,
                            ExecutionStatus::kFailed,
                            ExecutionStatus::kCanceled,
                            ExecutionStatus::kTerminated}) {
    InstanceFilter filter;
    filter.statuses = {status};
    EXPECT_EQ(list(filter), (Ids{std::string(to_string(status))}));
  }
}

TEST_P(Listing, FiltersBySeveralStatuses) {
  one_of_each();
  InstanceFilter filter;
  filter.statuses = {ExecutionStatus::kRunning, ExecutionStatus::kCanceling};
  EXPECT_EQ(list(filter), (Ids{"canceling", "running"}));
  filter.statuses = {ExecutionStatus::kRunning, ExecutionStatus::kFailed};
  EXPECT_EQ(list(filter), (Ids{"failed", "running"}));
}

TEST_P(Listing, FiltersByNameAndQueue) {
  start("plain");
  StartOrchestration other = start_request("other name");
  other.name = "other";
  start(other);
  other = start_request("other queue");
  other.queue = "slow";
  start(other);
  InstanceFilter filter;
  filter.name = "other";
  EXPECT_EQ(list(filter), (Ids{"other name"}));
  filter = {};
  filter.queue = "slow";
  EXPECT_EQ(list(filter), (Ids{"other queue"}));
  filter.name = "other";
  EXPECT_EQ(list(filter), Ids{});
}

TEST_P(Listing, FiltersByPrefixByteForByte) {
  for (const char* id : {"order-1", "ORDER-2", "order-é", "orde", "order-1-a", "orders"}) start(id);
  InstanceFilter filter;
  filter.id_prefix = "order-";
  EXPECT_EQ(list(filter), (Ids{"order-1-a", "order-é", "order-1"}));
  EXPECT_EQ(list(filter, 1), (Ids{"order-1-a", "order-é", "order-1"})) << "in pages";
  filter.id_prefix = "order-%";
  EXPECT_EQ(list(filter), Ids{});
}

TEST_P(Listing, FiltersByTimeOfCreation) {
  const TimePoint begin = now();
  for (const char* id : {"0", "1", "2"}) {
    start(id);
    advance(10s);
  }
  InstanceFilter filter;
  filter.created_from = begin + 10s;
  EXPECT_EQ(list(filter), (Ids{"2", "1"}));
  filter.created_before = begin + 20s;
  EXPECT_EQ(list(filter), (Ids{"1"}));
  filter.created_from.reset();
  EXPECT_EQ(list(filter), (Ids{"1", "0"}));
}

TEST_P(Listing, FiltersByParentDirectChildrenOnly) {
  family();
  InstanceFilter filter;
  filter.parent = "root";
  EXPECT_EQ(list(filter), (Ids{"b", "a"}));
  EXPECT_EQ(list(filter, 1), (Ids{"b", "a"})) << "in pages";
  filter.parent = "deepest";
  EXPECT_EQ(list(filter), Ids{});
  filter.parent = "nobody";
  EXPECT_EQ(list(filter), Ids{});
}

TEST_P(Listing, OfRootsHasNoChildren) {
  family();
  start("alone");
  InstanceFilter filter;
  filter.roots_only = true;
  EXPECT_EQ(list(filter), (Ids{"alone", "root"}));
}

TEST_P(Listing, ShowsADamagedInstanceAmongItsNeighbours) {
  for (const char* id : {"1", "2", "3"}) start(id);
  RowRef row;
  row.table = RowRef::Table::kExecution;
  row.instance = info("2").key;
  under_test().corrupt(row);
  InstanceFilter filter;
  filter.statuses = {ExecutionStatus::kRunning};

  EXPECT_EQ(list(filter), (Ids{"3", "2", "1"}));

  const InstancePage found = page({});
  ASSERT_EQ(found.instances.size(), 3u);
  EXPECT_FALSE(found.instances[0].problem);
  ASSERT_TRUE(found.instances[1].problem);
  EXPECT_EQ(found.instances[1].problem->code, ErrorCode::kCorrupt);
}

TEST_P(Listing, RefusesAPageOfNothing) {
  ListInstances request;
  request.limit = 0;
  EXPECT_EQ(refusal(store().list_instances(request)), ErrorCode::kInvalidArgument);
}

TEST_P(Listing, TreeHasParentsBeforeChildrenWithTheirDepth) {
  family();

  const InstanceTree found = tree({.id = "root"});

  EXPECT_EQ(ids_of(found), (Ids{"root", "a", "b", "deep", "deepest"}));
  EXPECT_FALSE(found.more);
  std::vector<int> depths;
  for (const TreeNode& node : found.nodes) depths.push_back(node.depth);
  EXPECT_EQ(depths, (std::vector<int>{0, 1, 1, 2, 3}));
}

TEST_P(Listing, TreeCanBeginAnywhere) {
  family();
  EXPECT_EQ(ids_of(tree({.id = "a"})), (Ids{"a", "deep", "deepest"}));
  EXPECT_EQ(ids_of(tree({.id = "deepest"})), (Ids{"deepest"}));
  EXPECT_EQ(refusal(store().get_tree({.id = "nobody"})), ErrorCode::kNotFound);
}

TEST_P(Listing, TreeIsCutByDepthAndByLimit) {
  family();
  InstanceTree found = tree({.id = "root", .max_depth = 1});
  EXPECT_EQ(ids_of(found), (Ids{"root", "a", "b"}));
  EXPECT_TRUE(found.more);
  found = tree({.id = "root", .max_depth = 0});
  EXPECT_EQ(ids_of(found), (Ids{"root"}));
  EXPECT_TRUE(found.more);
  found = tree({.id = "root", .max_depth = 3, .limit = 4});
  EXPECT_EQ(ids_of(found), (Ids{"root", "a", "b", "deep"}));
  EXPECT_TRUE(found.more);
  EXPECT_FALSE(tree({.id = "root", .max_depth = 3, .limit = 5}).more);
}

TEST_P(Listing, TreeHasTheChildrenOfEarlierExecutions) {
  start("root");
  start_child_of("root", "early", ClosePolicy::kAbandon);
  poke("root");
  end("root", ExecutionStatus::kContinuedAsNew);
  start_child_of("root", "late");

  EXPECT_EQ(ids_of(tree({.id = "root"})), (Ids{"root", "early", "late"}));
}

TEST_P(Listing, OfExecutionsIsNewestFirstInPages) {
  start("loop");
  for (int i = 0; i < 3; ++i) end("loop", ExecutionStatus::kContinuedAsNew);
  ListExecutions request;
  request.id = "loop";
  request.limit = 3;

  auto first = store().list_executions(request);
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(first->executions.size(), 3u);
  EXPECT_TRUE(first->more);
  EXPECT_EQ(first->executions[0].execution, ExecutionNo{4});
  EXPECT_EQ(first->executions[0].status, ExecutionStatus::kRunning);
  EXPECT_EQ(first->executions[1].status, ExecutionStatus::kContinuedAsNew);

  request.before = first->executions[2].execution;
  auto second = store().list_executions(request);
  ASSERT_TRUE(second.ok());
  ASSERT_EQ(second->executions.size(), 1u);
  EXPECT_EQ(second->executions[0].execution, ExecutionNo{1});
  EXPECT_FALSE(second->more);
  request.id = "nobody";
  EXPECT_EQ(refusal(store().list_executions(request)), ErrorCode::kNotFound);
}

TEST_P(Listing, StatsCountWhatAnInstanceHolds) {
  start("root");
  OrchestrationItem item = lock("root");
  TurnCommit decisions = turn(item);
  schedule(decisions, item);
  NewWork later;
  later.visible_at = now() + 60s;
  schedule(decisions, item, later);
  schedule_timer(decisions, item, now() + 60s);
  schedule_child(decisions, item, "child");
  commit(std::move(decisions));
  poke("root");
  const auto before = store().get_stats("root");

  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before->executions, 1);
  EXPECT_EQ(before->events, static_cast<std::int64_t>(history("root").size()));
  EXPECT_EQ(before->queued_messages, 2) << "the event and the timer";
  EXPECT_EQ(before->work_rows, 2);
  EXPECT_EQ(before->children, 1);
  EXPECT_GT(before->history_bytes, 0);

  for (OrchestrationItem& locked : lock_up_to(2)) {
    if (locked.id == "root") item = std::move(locked);
  }
  decisions = turn(item);
  HistoryEvent event = next_event(item, decisions, EventKind::kEventReceived);
  event.name = "poke";
  event.payload = "\"" + std::string(100, 'x') + "é\"";
  decisions.events.push_back(event);
  commit(std::move(decisions));

  const auto after = store().get_stats("root");
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->events, before->events + 1);
  EXPECT_EQ(after->history_bytes, before->history_bytes + 4 + 104) << "bytes, not characters";
  EXPECT_EQ(after->queued_messages, 1);
  EXPECT_EQ(refusal(store().get_stats("nobody")), ErrorCode::kNotFound);
}

PERDURE_CONFORMANCE_SUITE(Listing);

}  // namespace perdure::conformance
