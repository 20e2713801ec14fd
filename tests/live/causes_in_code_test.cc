#include "tests/live/causes_fixture.h"

/// What the code of a run sees of a cancel, and what it may still do: `on_cancel`, shields, undos,
/// children that are awaited.
namespace perdure::test::causes_in_code_test {

namespace {

using causes::command;
using causes::never;
using causes::toil;

/// As a status that is shown: of a canceled run there is no result.
template <class T>
std::string describe(const Outcome<T>& end) {
  if (end.ok()) return "completed: " + end.value();
  if (end.kind() == Outcome<T>::Kind::kCanceled) return "canceled: " + end.reason();
  return "failed: " + end.failure().type + ": " + end.failure().message;
}

OnCancel kind_of(const std::string& name) {
  if (name == "tried") return OnCancel::kTryCancel;
  return name == "waited" ? OnCancel::kWait : OnCancel::kAbandon;
}

constexpr Orchestration<void(std::string)> caller{"caller"};

Task<void> run_caller(OrchestrationContext& ctx, std::string name) {
  const OnCancel kind = kind_of(name);
  auto call = ctx.call(toil, name, {.on_cancel = kind});
  auto end = co_await call.outcome();
  ctx.set_status(describe(end));
}

class CanceledCall : public causes::Causes {
 protected:
  CanceledCall() { registry_.add(caller, run_caller); }

  void cancel_with(const std::string& name) {
    run();
    client_.start(caller, "c", name);
    wait_for_begun(name);
    EXPECT_TRUE(client_.cancel("c", "enough").changed);
  }
  Json shown_at_end() {
    const RunStatus end = client_.wait("c", kHanging);
    EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
    return end.custom_status;
  }
};

TEST_F(CanceledCall, ThatIsTriedEndsForTheCodeAtOnce) {
  book_->hold_told(true);
  cancel_with("tried");
  EXPECT_EQ(shown_at_end(), "canceled: enough");
  EXPECT_EQ(told("tried"), "enough");
  EXPECT_EQ(book_->left("tried"), 0) << "nobody waited for the handler";
  EXPECT_EQ(stats("c").work_rows, 0);
}

TEST_F(CanceledCall, ThatIsWaitedForEndsWithTheResultOfItsHandler) {
  book_->hold_told(true);
  book_->let_told_answer();
  cancel_with("waited");
  EXPECT_EQ(told("waited"), "enough");
  EXPECT_EQ(status("c"), ExecutionStatus::kCanceling);
  EXPECT_EQ(stats("c").work_rows, 1) << "its end is to be written";
  book_->hold_told(false);
  EXPECT_EQ(shown_at_end(), "completed: waited in good order");
  EXPECT_EQ(texts("c", "activity_completed").size(), 1u);
  EXPECT_EQ(stats("c").work_rows, 0);
}

TEST_F(CanceledCall, ThatIsWaitedForEndsAsCanceledWhenItsHandlerStops) {
  cancel_with("waited");
  EXPECT_EQ(shown_at_end(), "canceled: enough");
  EXPECT_EQ(texts("c", "activity_canceled").size(), 1u);
}

TEST_F(CanceledCall, ThatIsAbandonedEndsForTheCodeAndRunsOn) {
  cancel_with("abandoned");
  EXPECT_EQ(shown_at_end(), "canceled: enough");
  EXPECT_EQ(stats("c").work_rows, 1) << "without an owner";
  expect_spared("abandoned");
  wait_for([&] { return stats("c").work_rows == 0; }, "the row to go with its handler");
  EXPECT_EQ(texts("c", "activity_completed").size(), 0u) << "its result is dropped";
}

constexpr Orchestration<void()> stubborn{"stubborn"};

TEST_F(CanceledCall, TellsTheCodeWhyAndLetsItMakeNoCommand) {
  registry_.add(stubborn, [](OrchestrationContext& ctx) -> Task<void> {
    std::string seen;
    try {
      co_await ctx.wait_for(never);
    } catch (const Canceled& canceled) {
      seen = canceled.reason();
    }
    try {
      ctx.timer(1h).detach();
    } catch (const Canceled& again) {
      seen += ", again: " + again.reason();
    }
    ctx.set_status(seen + ", " + ctx.cancel_reason());
  });
  run();
  client_.start(stubborn, "c");
  wait_for([&] { return client_.history("c").events.size() >= 2; }, "its wait");
  client_.cancel("c", "enough");
  EXPECT_EQ(shown_at_end(), "enough, again: enough, enough");
}

constexpr Orchestration<void(std::string)> tidy{"tidy"};

Task<void> clean(OrchestrationContext& ctx, std::string why) {
  const std::string name = "cleaning, " + why;
  co_await ctx.call(toil, name);
}

Task<void> clean_by_child(OrchestrationContext& ctx) {
  const std::string name = "cleaning, by a child";
  co_await ctx.call(causes::kid, name, {.id = "kid"});
}

/// Cleans up when it is canceled; or cleans all the time, under a shield, itself or by a child.
Task<void> run_tidy(OrchestrationContext& ctx, std::string when) {
  if (when == "always") {
    auto always = ctx.shield(clean(ctx, when));
    co_await always;
    co_return;
  }
  if (when == "by a child") {
    auto by_child = ctx.shield(clean_by_child(ctx));
    co_await by_child;
    ctx.set_status("clean");
    co_return;
  }
  auto wait = ctx.wait_for(never);
  auto end = co_await wait.outcome();
  auto cleaning = ctx.shield(clean(ctx, end.reason()));
  co_await cleaning;
  ctx.set_status("clean");
}

class CanceledShield : public causes::Causes {
 protected:
  CanceledShield() { registry_.add(tidy, run_tidy); }

  void start_waiting() {
    run();
    client_.start(tidy, "t", "in the end");
    wait_for([&] { return client_.history("t").events.size() >= 2; }, "its wait");
  }
};

TEST_F(CanceledShield, RunsCleanupBeforeTheEnd) {
  start_waiting();
  client_.cancel("t", "enough");
  wait_for_begun("cleaning, enough");
  EXPECT_EQ(status("t"), ExecutionStatus::kCanceling);
  expect_spared("cleaning, enough");
  const RunStatus end = client_.wait("t", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.custom_status, "clean");
  EXPECT_EQ(end.cancel_reason, "enough");
}

TEST_F(CanceledShield, IsCutWhenTheTimeForCleanupIsOver) {
  start_waiting();
  client_.cancel("t", "enough");
  wait_for_begun("cleaning, enough");
  clock_.advance(59s);
  wait_for_a_turn("t");
  EXPECT_EQ(status("t"), ExecutionStatus::kCanceling);
  EXPECT_EQ(book_->told("cleaning, enough"), "");
  clock_.advance(1s);
  const RunStatus end = client_.wait("t", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.custom_status, Json()) << "its code was not resumed";
  EXPECT_NE(told("cleaning, enough"), "");
  expect_nothing_left("t");
}

TEST_F(CanceledShield, HasTheTimeThatTheOneWhoCancelsGivesIt) {
  start_waiting();
  const Client patient(store(), {.cancel_cleanup_timeout = 1h});
  patient.cancel("t", "enough");
  wait_for_begun("cleaning, enough");
  clock_.advance(59min);
  wait_for_a_turn("t");
  EXPECT_EQ(status("t"), ExecutionStatus::kCanceling);
  clock_.advance(1min);
  EXPECT_EQ(client_.wait("t", kHanging).status, ExecutionStatus::kCanceled);
}

TEST_F(CanceledShield, KeepsACallThatRunsUnderIt) {
  run();
  client_.start(tidy, "t", "always");
  wait_for_begun("cleaning, always");
  EXPECT_TRUE(client_.cancel("t", "enough").changed);
  EXPECT_EQ(stats("t").work_rows, 1);
  wait_for([&] { return texts("t", "cancel_requested").size() == 1; }, "the turn that hears of it");
  expect_spared("cleaning, always");
  EXPECT_EQ(client_.wait("t", kHanging).status, ExecutionStatus::kCanceled);
}

TEST_F(CanceledShield, KeepsAChildThatRunsUnderIt) {
  run();
  client_.start(tidy, "t", "by a child");
  wait_for_begun("cleaning, by a child");
  EXPECT_TRUE(client_.cancel("t", "enough").changed);
  wait_for([&] { return texts("t", "cancel_requested").size() == 1; }, "the turn that hears of it");
  EXPECT_EQ(status("kid"), ExecutionStatus::kRunning);
  expect_spared("cleaning, by a child");
  const RunStatus end = client_.wait("t", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.custom_status, "clean");
  EXPECT_EQ(client_.wait("kid", kHanging).status, ExecutionStatus::kCompleted);
}

TEST_F(CanceledShield, GivesItsChildUpWhenTheTimeForCleanupIsOver) {
  run();
  client_.start(tidy, "t", "by a child");
  wait_for_begun("cleaning, by a child");
  client_.cancel("t", "enough");
  wait_for([&] { return texts("t", "cancel_requested").size() == 1; }, "the turn that hears of it");
  clock_.advance(60s);
  EXPECT_EQ(client_.wait("t", kHanging).status, ExecutionStatus::kCanceled);
  EXPECT_NE(told("cleaning, by a child"), "");
  EXPECT_EQ(client_.wait("kid", kHanging).status, ExecutionStatus::kCanceled);
}

TEST_F(CanceledShield, KeepsNothingFromATerminate) {
  run();
  client_.start(tidy, "t", "always");
  wait_for_begun("cleaning, always");
  client_.terminate("t", "now");
  EXPECT_EQ(told("cleaning, always"), "the run was terminated");
  EXPECT_EQ(status("t"), ExecutionStatus::kTerminated);
}

constexpr Activity<void(std::string)> refund{"refund"};
constexpr Activity<void(std::string)> bad_refund{"bad_refund"};
constexpr Orchestration<void(std::string)> shop{"shop"};
constexpr const char* kRefund = "refund of charge done";

/// Charges, with an undo that works or not, then waits for how to go on.
Task<void> run_shop(OrchestrationContext& ctx, std::string undo) {
  const std::string name = "charge";
  if (undo == "good") {
    co_await ctx.call(toil, name).undo_with(refund);
  } else {
    co_await ctx.call(toil, name).undo_with(bad_refund);
  }
  ctx.set_status("charged");
  const std::string how = co_await ctx.wait_for(command);
  if (how == "fail") throw Failed("empty", "nothing to ship", false);
}

class CanceledUndo : public causes::Causes {
 protected:
  CanceledUndo() {
    registry_.add(shop, run_shop);
    registry_.add(refund, [book = book_](ActivityContext& ctx, const std::string& of) {
      book->toil_on(ctx, "refund of " + of);
    });
    registry_.add(bad_refund, [](const std::string&) { throw Failed("bank", "closed", false); });
  }

  void charge(const std::string& undo = "good") {
    run();
    client_.start(shop, "s", undo);
    book_->release("charge");
    wait_for([&] { return client_.status("s").custom_status == "charged"; }, "the charge");
  }
};

TEST_F(CanceledUndo, RunsBeforeACanceledRunEnds) {
  charge();
  client_.cancel("s", "enough");
  wait_for_begun(kRefund);
  EXPECT_EQ(status("s"), ExecutionStatus::kCanceling);
  expect_spared(kRefund);
  const RunStatus end = client_.wait("s", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.cancel_reason, "enough");
  EXPECT_EQ(end.failure.type, "");
}

TEST_F(CanceledUndo, IsNotCutWithTheCleanup) {
  charge();
  client_.cancel("s", "enough");
  wait_for_begun(kRefund);
  EXPECT_EQ(stats("s").queued_messages, 1) << "the end of the time for cleanup";
  clock_.advance(1h);
  wait_for([&] { return stats("s").queued_messages == 0; }, "the turn that hears of it");
  EXPECT_EQ(status("s"), ExecutionStatus::kCanceling);
  expect_spared(kRefund);
  EXPECT_EQ(client_.wait("s", kHanging).status, ExecutionStatus::kCanceled);
}

TEST_F(CanceledUndo, RunsBeforeAFailedRunEnds) {
  charge();
  const std::string how = "fail";
  client_.raise_event("s", command, how);
  wait_for_begun(kRefund);
  EXPECT_EQ(status("s"), ExecutionStatus::kFailing);
  expect_spared(kRefund);
  const RunStatus end = client_.wait("s", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kFailed);
  EXPECT_EQ(end.failure.type, "empty");
}

TEST_F(CanceledUndo, OfACallThatRunsWaitsForItsOutcome) {
  run();
  client_.start(shop, "s", "good");
  wait_for_begun("charge");
  book_->let_told_answer();
  client_.cancel("s", "enough");
  EXPECT_EQ(told("charge"), "enough");
  const std::string of_it = "refund of charge in good order";
  wait_for_begun(of_it);
  EXPECT_EQ(status("s"), ExecutionStatus::kCanceling);
  expect_spared(of_it);
  EXPECT_EQ(client_.wait("s", kHanging).status, ExecutionStatus::kCanceled);
}

TEST_F(CanceledUndo, ThatFailsForGoodIsShown) {
  charge("bad");
  client_.cancel("s", "enough");
  const RunStatus end = client_.wait("s", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.failure.type, "compensation_failed");
  EXPECT_EQ(end.cancel_reason, "enough");
}

TEST_F(CanceledUndo, IsSkippedByATerminate) {
  charge();
  client_.terminate("s", "now");
  EXPECT_EQ(status("s"), ExecutionStatus::kTerminated);
  EXPECT_EQ(texts("s", "undo_scheduled").size(), 0u);
  EXPECT_EQ(book_->begun(kRefund), 0);
}

TEST_F(CanceledUndo, ThatRunsIsStoppedByATerminate) {
  charge();
  client_.cancel("s", "enough");
  wait_for_begun(kRefund);
  client_.terminate("s", "now");
  EXPECT_EQ(told(kRefund), "the run was terminated");
  EXPECT_EQ(client_.status("s").cancel_reason, "now");
}

constexpr Orchestration<void(std::string)> parent{"parent"};

/// Calls a run that cleans up when it is canceled.
Task<void> run_parent(OrchestrationContext& ctx, std::string name) {
  const OnCancel kind = kind_of(name);
  const std::string when = "in the end";
  auto child = ctx.call(tidy, when, {.id = "child", .on_cancel = kind});
  auto end = co_await child.outcome();
  const bool canceled = end.kind() == Outcome<void>::Kind::kCanceled;
  ctx.set_status(canceled ? "given up" : end.failure().type + ": " + end.failure().message);
}

class CanceledParent : public CanceledShield {
 protected:
  CanceledParent() { registry_.add(parent, run_parent); }

  void cancel_with(const std::string& name) {
    run();
    client_.start(parent, "p", name);
    wait_for(
        [&] {
          try {
            return client_.history("child").events.size() >= 2;
          } catch (const NotFound&) {
            return false;
          }
        },
        "the child");
    client_.cancel("p", "enough");
  }
  void expect_child_ends() {
    expect_spared("cleaning, enough");
    const RunStatus end = client_.wait("child", kHanging);
    EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
    EXPECT_EQ(end.cancel_reason, "enough");
    EXPECT_EQ(end.custom_status, "clean");
  }
};

TEST_F(CanceledParent, ThatWaitsForItsChildEndsAfterIt) {
  cancel_with("waited");
  wait_for_begun("cleaning, enough");
  wait_for([&] { return texts("p", "cancel_requested").size() == 1; }, "the turn that hears of it");
  EXPECT_EQ(status("p"), ExecutionStatus::kCanceling);
  expect_child_ends();
  const RunStatus end = client_.wait("p", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.custom_status, "canceled: enough") << "how the child ended";
}

TEST_F(CanceledParent, ThatTriesToCancelItsChildEndsBeforeIt) {
  cancel_with("tried");
  const RunStatus end = client_.wait("p", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.custom_status, "given up");
  wait_for_begun("cleaning, enough");
  EXPECT_EQ(status("child"), ExecutionStatus::kCanceling);
  expect_child_ends();
}

}  // namespace

}  // namespace perdure::test::causes_in_code_test
