#include "cli/bench/soak_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <perdure/perdure.h>

#include "cli/bench/soak_code.h"

namespace perdure::bench::soak_audit_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A tree, node by node: the first is its root.
class TreeOfRuns {
 public:
  TreeOfRuns& add(std::int64_t key,
                  std::int64_t parent,
                  ExecutionStatus status,
                  ClosePolicy policy = ClosePolicy::kCancel,
                  bool shielded = false) {
    TreeNode node;
    node.depth = parent == 0 ? 0 : 1;
    node.instance.key = InstanceKey{key};
    node.instance.id = "run-" + std::to_string(key);
    node.instance.status = status;
    if (status == ExecutionStatus::kCanceling) node.instance.cancel_requested_at = TimePoint{};
    if (parent != 0) {
      ParentLink link;
      link.instance = InstanceKey{parent};
      link.close_policy = policy;
      link.shielded = shielded;
      node.instance.parent = link;
    }
    tree_.nodes.push_back(std::move(node));
    return *this;
  }
  std::vector<std::string> runnable() const { return runnable_below(tree_); }

 private:
  InstanceTree tree_;
};

TEST(RunnableBelow, FindsLiveDescendantsThatWereNotTold) {
  TreeOfRuns tree;
  tree.add(1, 0, ExecutionStatus::kCanceling)
      .add(2, 1, ExecutionStatus::kCanceling)
      .add(3, 1, ExecutionStatus::kCompleted)
      .add(4, 2, ExecutionStatus::kRunning)
      .add(5, 3, ExecutionStatus::kFailing);
  EXPECT_THAT(tree.runnable(), ElementsAre("run-4", "run-5"));
}

TEST(RunnableBelow, LeavesOutWhatIsAbandonedWithAllBelow) {
  TreeOfRuns tree;
  tree.add(1, 0, ExecutionStatus::kCanceled)
      .add(2, 1, ExecutionStatus::kRunning, ClosePolicy::kAbandon)
      .add(3, 2, ExecutionStatus::kRunning);
  EXPECT_THAT(tree.runnable(), IsEmpty());
}

TEST(RunnableBelow, LeavesOutWhatRunsUnderAShieldWithAllBelow) {
  TreeOfRuns tree;
  tree.add(1, 0, ExecutionStatus::kCanceling)
      .add(2, 1, ExecutionStatus::kRunning, ClosePolicy::kCancel, true)
      .add(3, 2, ExecutionStatus::kRunning);
  EXPECT_THAT(tree.runnable(), IsEmpty());
}

/// A history, event by event.
class Told {
 public:
  Told& call(const std::string& activity) {
    HistoryEvent& event = add(EventKind::kActivityScheduled);
    event.name = activity;
    return *this;
  }
  Told& completed(std::int64_t call, const std::string& result) {
    HistoryEvent& event = add(EventKind::kActivityCompleted);
    event.source = EventId{call};
    event.payload = result;
    return *this;
  }
  Told& failed(std::int64_t call, const std::string& type) {
    HistoryEvent& event = add(EventKind::kActivityFailed);
    event.source = EventId{call};
    event.failure.type = type;
    return *this;
  }
  Told& canceled() {
    add(EventKind::kCancelRequested);
    return *this;
  }
  std::vector<std::string> late() const { return late_results(events_); }

 private:
  HistoryEvent& add(EventKind kind) {
    HistoryEvent event;
    event.id = EventId{static_cast<std::int64_t>(events_.size()) + 1};
    event.kind = kind;
    events_.push_back(std::move(event));
    return events_.back();
  }

  std::vector<HistoryEvent> events_;
};

TEST(LateResults, AreThoseOfHandlersThatHadBeenTold) {
  EXPECT_THAT(Told().call("soak_deaf").completed(1, "4").late(), IsEmpty());
  EXPECT_THAT(Told().call("soak_deaf").completed(1, "-1").late(),
              ElementsAre(HasSubstr("'soak_deaf' as event 2")));
  EXPECT_THAT(Told().call("soak_endless").failed(1, "timeout").late(), IsEmpty());
  EXPECT_THAT(Told().call("soak_endless").failed(1, "soak_late").late(),
              ElementsAre(HasSubstr("'soak_endless' as event 2")));
}

TEST(LateResults, AreAllThatComeAfterACancelUnlessTheCallIsWaitedFor) {
  EXPECT_THAT(Told().call("soak_nap").completed(1, "4").canceled().late(), IsEmpty());
  EXPECT_THAT(Told().call("soak_nap").canceled().completed(1, "4").late(),
              ElementsAre(HasSubstr("'soak_nap' as event 3")));
  EXPECT_THAT(Told().call("soak_shaky").canceled().failed(1, "soak_shaky").late(),
              ElementsAre(HasSubstr("'soak_shaky' as event 3")));
  EXPECT_THAT(Told().call("soak_kept").canceled().completed(1, "4").late(), IsEmpty());
  EXPECT_THAT(Told().call("soak_reserve").canceled().completed(1, "4").late(), IsEmpty());
}

/// A store with runs that nobody serves.
class CheckTree : public ::testing::Test {
 protected:
  std::vector<std::string> check(const std::set<std::string>& canceled = {}) {
    return check_tree(*store_, "a", canceled, counts_).value();
  }

  const std::shared_ptr<Provider> store_ = open("sqlite::memory:");
  const Client client_{store_};
  SoakCounts counts_;
};

TEST_F(CheckTree, FindsARunWithoutATerminalState) {
  client_.start(kSoakNode, "a", soak_input(0, 1));
  EXPECT_THAT(check(), ElementsAre(HasSubstr("run 'a' has no terminal state: it is running")));
}

TEST_F(CheckTree, FindsNothingWrongWithARunThatEndedCanceled) {
  client_.start(kSoakNode, "a", soak_input(0, 1));
  client_.cancel("a", "enough");
  EXPECT_THAT(check({"a"}), IsEmpty());
  EXPECT_EQ(counts_.runs, 1);
  EXPECT_EQ(counts_.canceled, 1);
}

TEST_F(CheckTree, FindsACanceledRunThatEndedOtherwise) {
  client_.start(kSoakNode, "a", soak_input(0, 1));
  client_.terminate("a", "at once");
  EXPECT_THAT(check({"a"}), ElementsAre(HasSubstr("was canceled and ended as terminated")));
}

TEST_F(CheckTree, FindsACleanupThatWasCanceledUnlessByItself) {
  client_.start(kSoakCleaner, "a", 1);
  client_.cancel("a", "enough");
  EXPECT_THAT(check(), ElementsAre(HasSubstr("was canceled with those above it")));
  EXPECT_THAT(check({"a"}), IsEmpty());
}

TEST_F(CheckTree, FindsACanceledRunThatIsGone) {
  client_.start(kSoakNode, "a", soak_input(0, 1));
  client_.cancel("a", "enough");
  EXPECT_THAT(check({"a/1.2"}), ElementsAre(HasSubstr("run 'a/1.2' was canceled and is gone")));
}

TEST_F(CheckTree, SeesWhatIsLeftOfADeletedTree) {
  client_.start(kSoakNode, "a", soak_input(0, 1));
  client_.start(kSoakNode, "a/1.2", soak_input(1, 1));
  client_.start(kSoakNode, "ab", soak_input(0, 1));
  EXPECT_THAT(left_of_deleted(*store_, "a").value(), ::testing::UnorderedElementsAre("a", "a/1.2"));
  client_.remove("a", {.force = true});
  EXPECT_THAT(left_of_deleted(*store_, "a").value(), ElementsAre("a/1.2"));
  client_.remove("a/1.2", {.force = true});
  EXPECT_THAT(left_of_deleted(*store_, "a").value(), IsEmpty());
}

}  // namespace
}  // namespace perdure::bench::soak_audit_test
