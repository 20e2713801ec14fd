#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// The feed of status changes and its trimming.
namespace perdure::conformance {

class ChangeFeed : public Conformance {
 protected:
  ChangePage read(ChangeSeq after = {}, std::size_t limit = 1'000) {
    auto answer = store().read_changes(after, limit);
    if (!answer.ok()) throw std::runtime_error("read_changes: " + answer.error().message);
    return std::move(answer).value();
  }

  ChangesTrimmed trim(const TrimChanges& request) {
    auto answer = store().trim_changes(request);
    if (!answer.ok()) throw std::runtime_error("trim_changes: " + answer.error().message);
    return std::move(answer).value();
  }

  static std::vector<std::pair<std::string, ExecutionStatus>> steps(const ChangePage& page) {
    std::vector<std::pair<std::string, ExecutionStatus>> result;
    for (const Change& change : page.changes) result.emplace_back(change.id, change.status);
    return result;
  }

  /// `count` starts, one change each, ten seconds apart.
  void starts(int count) {
    for (int i = 0; i < count; ++i) {
      start(std::to_string(i));
      advance(10s);
    }
  }
};

TEST_P(ChangeFeed, OfAnEmptyStoreIsEmpty) {
  const ChangePage page = read();
  EXPECT_TRUE(page.changes.empty());
  EXPECT_FALSE(page.more);
  EXPECT_FALSE(page.missed);
  TrimChanges request;
  request.keep = 0;
  EXPECT_EQ(trim(request).trimmed, 0);
}

TEST_P(ChangeFeed, TellsEveryStatusInOrder) {
  start_and_run("a");
  start("b");
  end("b", ExecutionStatus::kCompleted);
  cancel("a");
  end("a", ExecutionStatus::kCanceled);

  const ChangePage page = read();

  EXPECT_EQ(steps(page),
            (std::vector<std::pair<std::string, ExecutionStatus>>{
                {"a", ExecutionStatus::kRunning},
                {"b", ExecutionStatus::kRunning},
                {"b", ExecutionStatus::kCompleted},
                {"a", ExecutionStatus::kCanceling},
                {"a", ExecutionStatus::kCanceled},
            }));
  for (std::size_t i = 1; i < page.changes.size(); ++i) {
    EXPECT_LT(page.changes[i - 1].seq, page.changes[i].seq);
  }
  EXPECT_EQ(page.changes.back().seq, info("a").last_change);
  EXPECT_EQ(page.changes[0].instance, info("a").key);
  EXPECT_EQ(page.changes[0].execution, ExecutionNo{1});
  EXPECT_EQ(page.changes[0].kind, ChangeKind::kStatus);
}

TEST_P(ChangeFeed, TellsWhen) {
  const TimePoint begin = now();
  starts(2);
  const ChangePage page = read();
  ASSERT_EQ(page.changes.size(), 2u);
  EXPECT_EQ(page.changes[0].at, begin);
  EXPECT_EQ(page.changes[1].at, begin + 10s);
}

TEST_P(ChangeFeed, GoesOnAfterAPosition) {
  starts(5);
  std::vector<std::string> ids;
  ChangeSeq after;
  for (int round = 0; round < 10; ++round) {
    const ChangePage page = read(after, 2);
    EXPECT_LE(page.changes.size(), 2u);
    EXPECT_FALSE(page.missed);
    for (const Change& change : page.changes) ids.push_back(change.id);
    if (!page.changes.empty()) after = page.changes.back().seq;
    if (!page.more) break;
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  EXPECT_TRUE(read(after).changes.empty());
  start("late");
  EXPECT_EQ(read(after).changes.size(), 1u);
}

TEST_P(ChangeFeed, TellsOfADelete) {
  start("root");
  start_child_of("root", "child");
  const InstanceKey root = info("root").key;
  const InstanceKey child = info("child").key;
  const ChangeSeq before = read().changes.back().seq;

  ASSERT_TRUE(store().delete_instance({.id = "root", .force = true}).ok());

  const ChangePage page = read(before);
  ASSERT_EQ(page.changes.size(), 2u);
  EXPECT_EQ(page.changes[0].kind, ChangeKind::kDeleted);
  EXPECT_EQ(page.changes[0].instance, root);
  EXPECT_EQ(page.changes[0].status, ExecutionStatus::kRunning) << "its last one";
  EXPECT_TRUE(page.changes[0].id.empty());
  EXPECT_EQ(page.changes[1].kind, ChangeKind::kDeleted);
  EXPECT_EQ(page.changes[1].instance, child);
}

TEST_P(ChangeFeed, IsTrimmedToTheNewest) {
  starts(5);
  const ChangeSeq first = read().changes[0].seq;
  TrimChanges request;
  request.keep = 2;

  const ChangesTrimmed answer = trim(request);

  EXPECT_EQ(answer.trimmed, 3);
  EXPECT_FALSE(answer.more);
  const ChangePage page = read(first);
  ASSERT_EQ(page.changes.size(), 2u);
  EXPECT_EQ(page.changes[0].id, "3");
  EXPECT_TRUE(page.missed);
  EXPECT_EQ(trim(request).trimmed, 0) << "again: nothing is left to do";
}

TEST_P(ChangeFeed, TellsAReaderThatMissedNothingSo) {
  starts(5);
  const ChangeSeq third = read().changes[2].seq;
  TrimChanges request;
  request.keep = 2;
  trim(request);
  EXPECT_FALSE(read(third).missed);
  EXPECT_EQ(read(third).changes.size(), 2u);
}

TEST_P(ChangeFeed, IsTrimmedByAgeStrictly) {
  const TimePoint begin = now();
  starts(5);
  TrimChanges request;
  request.before = begin + 20s;
  EXPECT_EQ(trim(request).trimmed, 2);
  EXPECT_EQ(read().changes.at(0).id, "2");
}

TEST_P(ChangeFeed, TrimmingNeedsAllThatIsSet) {
  const TimePoint begin = now();
  starts(5);
  TrimChanges request;
  request.before = begin + 30s;
  request.keep = 4;
  EXPECT_EQ(trim(request).trimmed, 1);
  request.before = begin + 15s;
  request.keep = 1;
  EXPECT_EQ(trim(request).trimmed, 1);
  EXPECT_EQ(read().changes.size(), 3u);
}

TEST_P(ChangeFeed, KeepsItsNewestRowAndNeverUsesANumberTwice) {
  starts(3);
  const ChangeSeq newest = read().changes.back().seq;
  TrimChanges request;
  request.keep = 0;
  request.before = now() + 1h;

  EXPECT_EQ(trim(request).trimmed, 2);

  ASSERT_EQ(read().changes.size(), 1u);
  EXPECT_EQ(read().changes[0].seq, newest);
  EXPECT_TRUE(read().missed);
  EXPECT_FALSE(read(newest).missed);
  start("next");
  EXPECT_GT(read().changes.back().seq, newest);
}

TEST_P(ChangeFeed, IsTrimmedInPortions) {
  starts(6);
  TrimChanges request;
  request.keep = 1;
  request.limit = 2;
  EXPECT_EQ(trim(request).trimmed, 2);
  EXPECT_TRUE(trim(request).more);
  const ChangesTrimmed last = trim(request);
  EXPECT_EQ(last.trimmed, 1);
  EXPECT_FALSE(last.more);
}

TEST_P(ChangeFeed, TrimmingLeavesTheInstancesAlone) {
  starts(2);
  const ChangeSeq last = info("0").last_change;
  TrimChanges request;
  request.keep = 1;
  trim(request);
  EXPECT_EQ(info("0").last_change, last);
  EXPECT_EQ(status("0"), ExecutionStatus::kRunning);
}

TEST_P(ChangeFeed, TrimmingRefusesWhatItCannotMean) {
  starts(2);
  TrimChanges request;
  EXPECT_EQ(refusal(store().trim_changes(request)), ErrorCode::kInvalidArgument);
  request.keep = -1;
  EXPECT_EQ(refusal(store().trim_changes(request)), ErrorCode::kInvalidArgument);
  request.keep = 1;
  request.limit = 0;
  EXPECT_EQ(refusal(store().trim_changes(request)), ErrorCode::kInvalidArgument);
  EXPECT_EQ(read().changes.size(), 2u);
}

PERDURE_CONFORMANCE_SUITE(ChangeFeed);

}  // namespace perdure::conformance
