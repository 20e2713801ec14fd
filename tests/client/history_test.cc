#include <perdure/replayer.h>

#include "tests/client/client_fixture.h"

namespace perdure::test::history_test {

namespace {

using History = ClientTest;

TEST_P(History, TellsWhatTheRunDid) {
  client_.start(doubled, "a", 21);
  run();
  const HistoryEvents all = client_.history("a");
  EXPECT_EQ(all.execution, 1);
  EXPECT_FALSE(all.more);
  std::vector<std::string> kinds;
  for (const RunEvent& event : all.events) kinds.push_back(event.kind);
  EXPECT_EQ(kinds,
            (std::vector<std::string>{
                "started", "activity_scheduled", "activity_completed", "completed"}));
  EXPECT_EQ(all.events[1].name, "twice");
  EXPECT_EQ(all.events[2].source, 2);
  EXPECT_EQ(all.events[3].payload, "42");
}

TEST_P(History, ComesInPages) {
  client_.start(doubled, "a", 21);
  run();
  std::vector<RunEvent> read;
  HistoryOptions options{.limit = 3};
  for (int pages = 1;; ++pages) {
    const HistoryEvents page = client_.history("a", options);
    read.insert(read.end(), page.events.begin(), page.events.end());
    if (!page.more) {
      EXPECT_EQ(pages, 2);
      break;
    }
    options.after = page.events.back().id;
  }
  EXPECT_EQ(read, client_.history("a").events);
}

TEST_P(History, IsThereForEachExecution) {
  client_.start(countdown, "a", 1);
  client_.raise_event("a", guest, "next");
  run();
  EXPECT_EQ(client_.history("a").execution, 2);
  EXPECT_EQ(client_.history("a").events.back().payload, "102");
  EXPECT_EQ(client_.history("a", {.execution = 1}).events.back().kind, "continued_as_new");
  EXPECT_THROW(client_.history("a", {.execution = 3}), NotFound);
  EXPECT_NE(client_.history_json("a"), client_.history_json("a", 1));
  EXPECT_EQ(client_.history_json("a"), client_.history_json("a", 2));
}

TEST_P(History, AsJsonIsWhatTheReplayerChecks) {
  client_.start(doubled, "a", 21);
  client_.start(countdown, "b", 1);
  client_.start(greeter, "c");
  client_.raise_event("b", guest, "next");
  run();
  const Replayer replayer(sample());
  for (const std::string& json : {client_.history_json("a"),
                                  client_.history_json("b"),
                                  client_.history_json("b", 1),
                                  client_.history_json("c")}) {
    const ReplayReport report = replayer.check(json);
    EXPECT_TRUE(report.ok) << to_string(report) << json;
    EXPECT_TRUE(report.warnings.empty()) << to_string(report);
    EXPECT_GT(report.events, 1U);
  }
}

TEST_P(History, AsJsonFindsCodeThatHasChanged) {
  client_.start(doubled, "a", 21);
  run();
  Registry changed;
  changed.add(doubled, [](OrchestrationContext& ctx, int value) -> Task<int> {
    co_await ctx.timer(1s);
    co_return value;
  });
  const ReplayReport report = Replayer(changed).check(client_.history_json("a"));
  ASSERT_TRUE(report.mismatch.has_value());
  EXPECT_EQ(report.mismatch->position, 2);
}

TEST_P(History, AsJsonOfARunWithoutATurnHasNothingToCheck) {
  client_.start(doubled, "a", 21);
  const ReplayReport report = Replayer(sample()).check(client_.history_json("a"));
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.warnings.size(), 1U);
}

PERDURE_CLIENT_SUITE(History);

}  // namespace

}  // namespace perdure::test::history_test
