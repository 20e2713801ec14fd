#include <thread>

#include "tests/client/client_fixture.h"

namespace perdure::test::cancel_all_test {

namespace {

using Ids = std::vector<std::string>;

inline constexpr Orchestration<std::string()> host{"host"};

/// Waits for a child that waits for guests.
Task<std::string> run_host(OrchestrationContext& ctx) {
  co_return co_await ctx.call(greeter, {.id = "host/greeter"});
}

class CancelAll : public ClientTest {
 protected:
  /// Runs that wait for a guest: "a0", "a1", ..
  void start_greeters(int count) {
    for (int i = 0; i < count; ++i) client_.start(greeter, "a" + std::to_string(i));
    run();
  }
  ExecutionStatus status(const std::string& id) { return client_.status(id).status; }

  /// A moment after all that was done before and before all that is done later.
  TimePoint moment() {
    const TimePoint now = store_->clock().now();
    while (store_->clock().now() <= now + 1us) std::this_thread::yield();
    return now + 1us;
  }
};

TEST_P(CancelAll, CancelsWhatAppliesAndNothingElse) {
  start_greeters(3);
  client_.start(doubled, "math", 1);
  client_.start(greeter, "elsewhere", {.queue = "side"});

  const RunsCanceled done = client_.cancel_all({.name = "greeter", .queue = "default"}, "enough");

  EXPECT_EQ(done.canceled, 3);
  EXPECT_EQ(done.ids, (Ids{"a0", "a1", "a2"})) << "the oldest first";
  EXPECT_EQ(done.canceling + done.ended + done.gone + done.unreadable + done.unknown, 0);
  for (const std::string& id : done.ids) {
    EXPECT_EQ(status(id), ExecutionStatus::kCanceling);
    EXPECT_EQ(client_.status(id).cancel_reason, "enough");
  }
  EXPECT_EQ(status("math"), ExecutionStatus::kRunning);
  EXPECT_EQ(status("elsewhere"), ExecutionStatus::kRunning);
  run();
  for (const std::string& id : done.ids) EXPECT_EQ(status(id), ExecutionStatus::kCanceled);
}

TEST_P(CancelAll, CancelsByAge) {
  start_greeters(2);
  const TimePoint then = moment();
  client_.start(greeter, "young");

  const RunsCanceled done = client_.cancel_all({.name = "greeter", .created_before = then}, "old");

  EXPECT_EQ(done.ids, (Ids{"a0", "a1"}));
  EXPECT_EQ(status("young"), ExecutionStatus::kRunning);
}

TEST_P(CancelAll, ARunThatWasStartedAnewIsAsYoungAsThat) {
  client_.start(greeter, "daily");
  client_.terminate("daily", "over");
  const TimePoint then = moment();
  client_.start(greeter, "daily");
  ASSERT_LT(client_.list().runs.at(0).created_at, then) << "the id is older than the run";

  EXPECT_EQ(client_.preview_cancel_all({.created_before = then}).runs, 0);
  EXPECT_EQ(client_.cancel_all({.created_before = then}, "old").canceled, 0);
  EXPECT_EQ(status("daily"), ExecutionStatus::kRunning);
  EXPECT_EQ(client_.cancel_all({.created_before = moment()}, "old").canceled, 1);
}

TEST_P(CancelAll, ARunThatContinuedAsNewIsAsOldAsItsBeginning) {
  client_.start(countdown, "a", 3);
  run();
  const TimePoint then = moment();
  for (int i = 0; i < 2; ++i) client_.raise_event("a", guest, "next");
  run();
  ASSERT_EQ(client_.status("a").execution, 3);
  ASSERT_GE(client_.status("a").started_at, then);

  EXPECT_EQ(client_.cancel_all({.created_before = then}, "old").ids, (Ids{"a"}));
}

TEST_P(CancelAll, ThePreviewTellsTheSameAndChangesNothing) {
  start_greeters(5);
  client_.cancel("a4", "before");
  const RunFilter filter{.name = "greeter"};

  const CancelPreview preview = client_.preview_cancel_all(filter, {.max_named = 2});

  EXPECT_EQ(preview.runs, 4);
  EXPECT_EQ(preview.canceling, 1);
  ASSERT_EQ(preview.first.size(), 2U);
  EXPECT_EQ(preview.first[0].id, "a3") << "newest first";
  EXPECT_EQ(preview.first[1].id, "a2");
  EXPECT_EQ(preview.first[0].status, ExecutionStatus::kRunning);
  for (const char* id : {"a0", "a1", "a2", "a3"}) EXPECT_EQ(status(id), ExecutionStatus::kRunning);

  const RunsCanceled done = client_.cancel_all(filter, "now", {.max_named = 2});
  EXPECT_EQ(done.canceled, 4);
  EXPECT_EQ(done.canceling, 1);
  EXPECT_EQ(done.ids, (Ids{"a0", "a1"}));
  EXPECT_EQ(client_.status("a4").cancel_reason, "before");
}

TEST_P(CancelAll, EveryRunIsMeantOnlyWhenThatIsSaid) {
  start_greeters(2);
  const std::vector<RunFilter> all{
      {}, {.statuses = {ExecutionStatus::kRunning}}, {.roots_only = true}};
  for (const RunFilter& filter : all) {
    const std::string message =
        message_of<InvalidArgument>([&] { client_.cancel_all(filter, "x"); });
    EXPECT_TRUE(contains(message, "every_run")) << message;
    EXPECT_THROW(client_.preview_cancel_all(filter), InvalidArgument);
  }
  EXPECT_EQ(status("a0"), ExecutionStatus::kRunning);
  EXPECT_EQ(client_.cancel_all({}, "x", {.every_run = true}).canceled, 2);
}

TEST_P(CancelAll, WhatCanNeverBeIsRefused) {
  start_greeters(1);
  const RunFilter ended{.name = "greeter",
                        .statuses = {ExecutionStatus::kRunning, ExecutionStatus::kFailed}};
  EXPECT_TRUE(
      contains(message_of<InvalidArgument>([&] { client_.cancel_all(ended, "x"); }), "failed"));
  const RunFilter good{.name = "greeter"};
  EXPECT_THROW(client_.cancel_all(good, "x", {.max_named = 10'001}), InvalidArgument);
  EXPECT_TRUE(contains(
      message_of<InvalidArgument>([&] { client_.cancel_all(good, "not \xff utf-8"); }), "reason"));
  EXPECT_EQ(status("a0"), ExecutionStatus::kRunning);
}

TEST_P(CancelAll, OnlyTheStatusesThatWereAskedFor) {
  start_greeters(2);
  client_.cancel("a1", "before");
  const RunsCanceled done =
      client_.cancel_all({.name = "greeter", .statuses = {ExecutionStatus::kCanceling}}, "again");
  EXPECT_EQ(done.canceled, 0);
  EXPECT_EQ(done.canceling, 1);
  EXPECT_EQ(status("a0"), ExecutionStatus::kRunning);
}

TEST_P(CancelAll, ParentsGoBeforeTheirChildren) {
  Registry registry = sample();
  registry.add(host, run_host);
  Engine engine(store_, registry);
  client_.start(host, "host");
  engine.run();
  ASSERT_EQ(status("host/greeter"), ExecutionStatus::kRunning);

  const RunsCanceled done = client_.cancel_all({}, "all", {.every_run = true});

  EXPECT_EQ(done.ids, (Ids{"host"}));
  EXPECT_EQ(done.canceling, 1) << "the child went with its parent";
  engine.run();
  EXPECT_EQ(status("host"), ExecutionStatus::kCanceled) << "not failed by the end of its child";
  EXPECT_EQ(status("host/greeter"), ExecutionStatus::kCanceled);
}

TEST_P(CancelAll, GoesThroughMorePagesThanOne) {
  const auto store =
      open(GetParam() == "memory" ? "sqlite::memory:"
                                  : "sqlite:" + dir_.file("many.db") + "?durability=relaxed");
  const Client client(store);
  constexpr int kRuns = 1'100;
  for (int i = 0; i < kRuns; ++i) client.start(greeter, std::to_string(i));
  client.start(doubled, "math", 1);

  EXPECT_EQ(client.preview_cancel_all({.name = "greeter"}).runs, kRuns);
  const RunsCanceled done = client.cancel_all({.name = "greeter"}, "all", {.max_named = 10'000});

  EXPECT_EQ(done.canceled, kRuns);
  ASSERT_EQ(done.ids.size(), static_cast<std::size_t>(kRuns));
  for (int i = 0; i < kRuns; ++i) EXPECT_EQ(done.ids[i], std::to_string(i));
  const RunPage live = client.list({.statuses = {ExecutionStatus::kRunning}});
  ASSERT_EQ(live.runs.size(), 1U);
  EXPECT_EQ(live.runs[0].id, "math");
}

PERDURE_CLIENT_SUITE(CancelAll);

}  // namespace

}  // namespace perdure::test::cancel_all_test
