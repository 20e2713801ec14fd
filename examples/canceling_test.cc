// What the author of an orchestration says about a cancel, one case each, on the thread of the
// test.

#include <gtest/gtest.h>

#include <perdure/perdure.h>
#include <perdure/testing.h>

namespace pd = perdure;
using namespace std::chrono_literals;

namespace {

using pd::testing::TestRuntime;
using Lines = std::vector<std::string>;

constexpr pd::Activity<std::string(std::string)> work{"work"};
constexpr pd::Activity<void(std::string)> tell{"tell"};

/// One orchestration, beside activities that keep what they were given.
template <class R, class... A, class F>
pd::Registry registry(const pd::Orchestration<R(A...)>& contract, F run, Lines& lines) {
  pd::Registry all;
  all.add(contract, run);
  all.add(work, [&lines](std::string what) {
    lines.push_back(what);
    return "done: " + what;
  });
  all.add(tell, [&lines](std::string what) { lines.push_back(what); });
  return all;
}

// on_cancel

constexpr pd::Orchestration<std::string(std::string)> film{"film"};

// [try_cancel]
pd::Task<std::string> run_film(pd::OrchestrationContext& ctx, std::string title) {
  co_return co_await ctx.call(work, title);  // OnCancel::kTryCancel, unless you say otherwise
}
// [/try_cancel]

TEST(OnCancel, TryCancelTellsTheHandlerAndDoesNotWaitForIt) {
  Lines lines;
  TestRuntime runtime(registry(film, run_film, lines));
  bool told = false;
  runtime.fake(work, [&](pd::ActivityContext& ctx, std::string) {
    runtime.cancel("f-1", "no money");
    told = ctx.is_cancellation_requested();
    return std::string("late");
  });
  auto run = runtime.start(film, "f-1", "Metropolis");
  EXPECT_THROW(run.result(), pd::RunCanceled);
  EXPECT_TRUE(told);
  for (const auto& event : runtime.history("f-1")) EXPECT_NE(event.kind, "activity_completed");
}

constexpr pd::Orchestration<void(std::string)> payment{"payment"};

// [wait]
pd::Task<void> run_payment(pd::OrchestrationContext& ctx, std::string order) {
  auto paying = ctx.call(work, order, {.on_cancel = pd::OnCancel::kWait});
  const pd::Outcome<std::string> paid = co_await paying.outcome();  // what it really did
  ctx.set_status(paid ? "paid, " + paid.value() : std::string("not paid"));
}
// [/wait]

TEST(OnCancel, WaitGivesTheRealOutcomeAndTheRunIsCanceledAllTheSame) {
  Lines lines;
  TestRuntime runtime(registry(payment, run_payment, lines));
  runtime.fake(work, [&](pd::ActivityContext& ctx, std::string order) {
    runtime.cancel("p-1", "changed their mind");
    EXPECT_TRUE(ctx.is_cancellation_requested()) << "it may stop, and it may finish";
    return "receipt for " + order;
  });
  auto run = runtime.start(payment, "p-1", "tea");
  EXPECT_THROW(run.result(), pd::RunCanceled);
  EXPECT_EQ(run.status().custom_status, "paid, receipt for tea");
}

constexpr pd::Orchestration<void(std::string)> report{"report"};

// [abandon]
pd::Task<void> run_report(pd::OrchestrationContext& ctx, std::string text) {
  auto sending = ctx.call(tell, text, {.on_cancel = pd::OnCancel::kAbandon});
  co_await ctx.timer(1h);
  co_await sending;
}
// [/abandon]

TEST(OnCancel, AbandonLetsTheHandlerFinishUndisturbed) {
  Lines lines;
  TestRuntime runtime(registry(report, run_report, lines));
  runtime.fake(tell, [&](pd::ActivityContext& ctx, std::string text) {
    runtime.cancel("r-1", "not needed");
    EXPECT_FALSE(ctx.is_cancellation_requested());
    lines.push_back(text);
  });
  auto run = runtime.start(report, "r-1", "all is well");
  EXPECT_THROW(run.result(), pd::RunCanceled);
  EXPECT_EQ(lines, Lines{"all is well"});
}

// Shield

constexpr pd::Orchestration<void(std::string)> service{"service"};

// [shield]
pd::Task<void> replace_disk(pd::OrchestrationContext& ctx, std::string disk) {
  co_await ctx.call(tell, "take out " + disk);
  co_await ctx.call(tell, "put in " + disk);  // never one without the other
}

pd::Task<void> run_service(pd::OrchestrationContext& ctx, std::string disk) {
  co_await ctx.shield(replace_disk(ctx, disk));
  co_await ctx.call(tell, "polish " + disk);  // throws pd::Canceled if the cancel came meanwhile
}
// [/shield]

TEST(Shielded, WhatWasBegunIsFinishedAndNothingElseBegins) {
  Lines lines;
  TestRuntime runtime(registry(service, run_service, lines));
  runtime.fake(tell, [&](std::string what) {
    lines.push_back(what);
    runtime.cancel("s-1", "closed");
  });
  auto run = runtime.start(service, "s-1", "disk 3");
  EXPECT_THROW(run.result(), pd::RunCanceled);
  EXPECT_EQ(lines, (Lines{"take out disk 3", "put in disk 3"}));
}

// Undo

constexpr pd::Activity<void(std::string)> undo_work{"undo_work"};
constexpr pd::Orchestration<void()> trip{"trip"};

// [undo]
pd::Task<void> run_trip(pd::OrchestrationContext& ctx) {
  co_await ctx.call(work, "flight").undo_with(undo_work);
  co_await ctx.call(work, "hotel").undo_with(undo_work);  // canceled while it runs: waited for
  co_await ctx.call(work, "museum");
}
// [/undo]

TEST(Undone, WhatCompletedIsUndoneInReverseAlsoWhatTheCancelMet) {
  Lines lines;
  TestRuntime runtime(registry(trip, run_trip, lines));
  runtime.fake(work, [&](std::string what) {
    if (what == "hotel") runtime.cancel("t-1", "ill");
    return what;
  });
  runtime.fake(undo_work, [&](std::string what) { lines.push_back("undo " + what); });
  auto run = runtime.start(trip, "t-1");
  EXPECT_THROW(run.result(), pd::RunCanceled);
  EXPECT_EQ(lines, (Lines{"undo hotel", "undo flight"}));
}

// Scopes

constexpr pd::Event<int> paid{"paid"};
constexpr pd::Orchestration<int(std::string)> invoice{"invoice"};

// [scope]
pd::Task<void> remind_daily(pd::OrchestrationContext& ctx, std::string who) {
  for (;;) {
    co_await ctx.timer(24h);
    co_await ctx.call(tell, who + " owes us money");
  }
}

pd::Task<int> run_invoice(pd::OrchestrationContext& ctx, std::string who) {
  pd::Scope reminding = ctx.scope();
  auto reminders = reminding.spawn(remind_daily(ctx, who));
  const int cents = co_await ctx.wait_for(paid);
  reminding.cancel("paid");  // its timer or call goes in this commit; the run goes on
  co_await ctx.call(tell, who + " has paid");
  co_return cents;
}
// [/scope]

TEST(Scoped, APartIsCanceledAndTheRunGoesOn) {
  Lines lines;
  TestRuntime runtime(registry(invoice, run_invoice, lines));
  auto run = runtime.start(invoice, "i-1", "Ada");
  runtime.advance(50h);
  runtime.raise_event("i-1", paid, 700);
  EXPECT_EQ(run.result(), 700);
  EXPECT_EQ(runtime.queued().runs_later, 0) << "no reminder is left behind";
  EXPECT_EQ(lines, (Lines{"Ada owes us money", "Ada owes us money", "Ada has paid"}));
}

// Time for cleanup

constexpr pd::Orchestration<void(std::string)> session{"session"};

// [cleanup]
pd::Task<void> log_out(pd::OrchestrationContext& ctx, std::string user) {
  co_await ctx.call(tell, user + " leaves", {.retry = pd::retry(0, 10s)});  // until it succeeds
}

pd::Task<void> run_session(pd::OrchestrationContext& ctx, std::string user) {
  auto lasting = ctx.timer(8h);
  const pd::Outcome<void> end = co_await lasting.outcome();  // tells a cancel without throwing
  ctx.set_status(end ? std::string("over") : end.reason());
  co_await ctx.shield(log_out(ctx, user));
}
// [/cleanup]

TEST(Cleanup, HasItsTimeAndThenTheRunEndsWithoutIt) {
  Lines lines;
  TestRuntime runtime(registry(session, run_session, lines), {.cleanup_timeout = 5min});
  runtime.fail_next(tell, 1'000, {.type = "gateway", .message = "no answer"});
  auto run = runtime.start(session, "u-1", "Ada");
  runtime.run_until_idle();
  runtime.cancel("u-1", "maintenance");
  runtime.advance(4min);
  EXPECT_EQ(run.status().status, pd::ExecutionStatus::kCanceling) << "it is still trying";
  runtime.advance(1min);
  EXPECT_EQ(run.status().status, pd::ExecutionStatus::kCanceled);
  EXPECT_EQ(run.status().custom_status, "maintenance");
  EXPECT_EQ(lines, Lines{});
}

// Children

constexpr pd::Event<void> closing_time{"closing_time"};
constexpr pd::Orchestration<void(std::string)> shop{"shop"};
constexpr pd::Orchestration<void()> chain{"chain"};

pd::Task<void> count_the_till(pd::OrchestrationContext& ctx, std::string town) {
  co_await ctx.timer(30s);
  co_await ctx.call(tell, town + " is closed");
}

pd::Task<void> run_shop(pd::OrchestrationContext& ctx, std::string town) {
  auto closing = ctx.wait_for(closing_time);
  const pd::Outcome<void> told = co_await closing.outcome();
  ctx.set_status(std::string(told ? "as every day" : "canceled"));
  co_await ctx.shield(count_the_till(ctx, town));
}

// [child_awaited]
pd::Task<void> run_chain(pd::OrchestrationContext& ctx) {
  auto oslo = ctx.call(shop, "Oslo", {.id = "oslo", .on_cancel = pd::OnCancel::kWait});
  const pd::Outcome<void> end = co_await oslo.outcome();  // a cancel: when Oslo has cleaned up
  ctx.set_status(end ? std::string("closed") : end.failure().type);
}
// [/child_awaited]

TEST(CanceledChildren, ThatAreAwaitedEndBeforeTheirParent) {
  Lines lines;
  pd::Registry all = registry(chain, run_chain, lines);
  all.add(shop, run_shop);
  TestRuntime runtime(all);
  auto run = runtime.start(chain, "c-1");
  runtime.run_until_idle();
  runtime.cancel("c-1", "bankrupt");
  runtime.run_until_idle();
  EXPECT_EQ(runtime.status("oslo").status, pd::ExecutionStatus::kCanceling);
  EXPECT_EQ(run.status().status, pd::ExecutionStatus::kCanceling) << "it waits for Oslo";
  runtime.advance(30s);
  EXPECT_EQ(runtime.status("oslo").status, pd::ExecutionStatus::kCanceled);
  EXPECT_EQ(run.status().status, pd::ExecutionStatus::kCanceled);
  EXPECT_EQ(run.status().custom_status, "canceled");
  EXPECT_EQ(lines, Lines{"Oslo is closed"});
}

constexpr pd::Orchestration<void()> market{"market"};

// [child_left]
pd::Task<void> run_market(pd::OrchestrationContext& ctx) {
  auto rome = ctx.call(shop, "Rome", {.id = "rome"});  // canceled with this run, not waited for
  auto bern = ctx.call(shop, "Bern", {.id = "bern", .close_policy = pd::ClosePolicy::kAbandon});
  co_await pd::when_all(rome, bern);
}
// [/child_left]

TEST(CanceledChildren, ThatAreNotAwaitedCleanUpByThemselvesAndAbandonedOnesGoOn) {
  Lines lines;
  pd::Registry all = registry(market, run_market, lines);
  all.add(shop, run_shop);
  TestRuntime runtime(all);
  auto run = runtime.start(market, "m-1");
  runtime.run_until_idle();
  runtime.cancel("m-1", "rain");
  EXPECT_THROW(run.result(), pd::RunCanceled);
  EXPECT_EQ(runtime.status("rome").status, pd::ExecutionStatus::kCanceling);
  EXPECT_EQ(runtime.status("rome").cancel_reason, "rain");
  EXPECT_EQ(runtime.status("bern").status, pd::ExecutionStatus::kRunning);
  runtime.advance(30s);
  EXPECT_EQ(runtime.status("rome").status, pd::ExecutionStatus::kCanceled);
  EXPECT_EQ(lines, Lines{"Rome is closed"});
}

}  // namespace
