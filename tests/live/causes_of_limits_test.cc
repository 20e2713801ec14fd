#include "tests/live/causes_fixture.h"

/// Limits of a call: the row, the token or the child of that call, and an error to the code.
namespace perdure::test::causes_of_limits_test {

namespace {

using causes::kid;
using causes::kNobody;
using causes::toil;

constexpr Orchestration<std::vector<std::string>()> limited{"limited"};

template <class Call>
Task<std::string> how_it_ended(Call& call) {
  auto end = co_await call.outcome();
  co_return end.ok() ? end.value() : end.failure().type;
}

/// Calls of every kind under a limit of an hour, and one that was begun in time.
Task<std::vector<std::string>> run_limited(OrchestrationContext& ctx) {
  const std::string bound_id = "l/bound";
  const std::string free_id = "l/free";
  auto queued = ctx.call(toil, std::string("queued"), {.queue = kNobody, .timeout = 1h});
  auto unseen = ctx.call(toil, std::string("unseen"), {.queue = kNobody, .schedule_to_start = 1h});
  auto tried = ctx.call(toil, std::string("tried"), {.timeout = 1h});
  auto waited =
      ctx.call(toil, std::string("waited"), {.timeout = 1h, .on_cancel = OnCancel::kWait});
  auto abandoned =
      ctx.call(toil, std::string("abandoned"), {.timeout = 1h, .on_cancel = OnCancel::kAbandon});
  auto begun = ctx.call(toil, std::string("begun"), {.schedule_to_start = 1h});
  auto bound = ctx.call(kid, std::string("bound"), {.id = bound_id, .timeout = 1h});
  auto free = ctx.call(kid,
                       std::string("free"),
                       {.id = free_id, .close_policy = ClosePolicy::kAbandon, .timeout = 1h});
  std::vector<std::string> ends;
  ends.push_back(co_await how_it_ended(queued));
  ends.push_back(co_await how_it_ended(unseen));
  ends.push_back(co_await how_it_ended(tried));
  ends.push_back(co_await how_it_ended(waited));
  ends.push_back(co_await how_it_ended(abandoned));
  ends.push_back(co_await how_it_ended(bound));
  ends.push_back(co_await how_it_ended(free));
  ends.push_back(co_await how_it_ended(begun));
  co_return ends;
}

class CausesOfLimits : public causes::Causes {};

TEST_F(CausesOfLimits, EndThatCallAndTellTheCode) {
  registry_.add(limited, run_limited);
  run();
  client_.start(limited, "l");
  for (const char* name : {"tried", "waited", "abandoned", "begun", "bound", "free"}) {
    wait_for_begun(name);
  }
  clock_.advance(1h - 1s);
  EXPECT_EQ(ready_in(kNobody), 2);
  EXPECT_EQ(stats("l").work_rows, 6);
  clock_.advance(1s);
  EXPECT_NE(told("tried"), "");
  EXPECT_NE(told("waited"), "");
  EXPECT_NE(told("abandoned"), "");
  EXPECT_EQ(told("bound"), "dropped by parent 'l'");
  const RunStatus child = client_.wait("l/bound", kHanging);
  EXPECT_EQ(child.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(child.cancel_reason, "dropped by parent 'l'");
  wait_for([&] { return stats("l").work_rows == 1; }, "all rows but one to be gone");
  EXPECT_EQ(ready_in(kNobody), 0);
  EXPECT_EQ(status("l"), ExecutionStatus::kRunning);
  EXPECT_EQ(status("l/free"), ExecutionStatus::kRunning) << "as its close policy says";
  expect_spared("free");
  expect_spared("begun");
  std::vector<std::string> ends(7, "timeout");
  ends.emplace_back("begun done");
  EXPECT_EQ(client_.wait("l", kHanging).output, Json(ends));
  EXPECT_EQ(client_.wait("l/free", kHanging).output, "free done");
  expect_nothing_left("l");
}

constexpr Orchestration<std::string()> crowded{"crowded"};

TEST_F(CausesOfLimits, EndACallThatFindsNoFreeSlot) {
  registry_.add(crowded, [](OrchestrationContext& ctx) -> Task<std::string> {
    auto first = ctx.call(toil, std::string("first"), {.priority = 1});
    auto second = ctx.call(toil, std::string("second"), {.schedule_to_start = 1h});
    std::string ends = co_await how_it_ended(second);
    ends += ", ";
    ends += co_await how_it_ended(first);
    co_return ends;
  });
  RuntimeOptions narrow = options();
  narrow.max_concurrent_activities = 1;
  run(narrow);
  client_.start(crowded, "c");
  wait_for_begun("first");
  clock_.advance(1h);
  wait_for([&] { return stats("c").work_rows == 1; }, "the queued row to be gone");
  EXPECT_EQ(book_->begun("second"), 0);
  expect_spared("first");
  EXPECT_EQ(client_.wait("c", kHanging).output, "timeout, first done");
  EXPECT_EQ(book_->begun("second"), 0);
}

constexpr Activity<std::string()> flaky{"flaky"};
constexpr Orchestration<std::string()> stubborn{"stubborn"};

TEST_F(CausesOfLimits, EndACallThatWaitsForItsNextAttempt) {
  registry_.add(flaky, []() -> std::string { throw Failed("net", "down"); });
  registry_.add(stubborn, [](OrchestrationContext& ctx) -> Task<std::string> {
    auto call = ctx.call(flaky, {.retry = retry(9, 2h), .timeout = 1h});
    co_return co_await how_it_ended(call);
  });
  run();
  client_.start(stubborn, "s");
  wait_for(
      [&] {
        const auto queues = client_.queues().queues;
        return !queues.empty() && !queues[0].calls.empty() && queues[0].calls[0].delayed == 1;
      },
      "the call to wait for its next attempt");
  clock_.advance(1h);
  EXPECT_EQ(client_.wait("s", kHanging).output, "timeout");
  expect_nothing_left("s");
}

constexpr Activity<int()> silent{"silent"};
constexpr Orchestration<int()> listener{"listener"};

TEST_F(CausesOfLimits, EndAnAttemptThatGivesNoSignOfLife) {
  struct Told {
    Gate gate;
    Guarded<std::string> reason;
  };
  const auto told = std::make_shared<Told>();
  registry_.add(silent, [told](ActivityContext& ctx) -> int {
    if (const auto before = ctx.heartbeat_details<int>()) return *before + 1;
    ctx.heartbeat(6);
    const std::string reason = ctx.wait_until_canceled();
    told->reason.with([&](std::string& text) { text = reason; });
    told->gate.open();
    throw Canceled(reason);
  });
  registry_.add(listener, [](OrchestrationContext& ctx) -> Task<int> {
    // An attempt may be over before its thread has begun.
    co_return co_await ctx.call(silent, {.retry = retry(0, 1ms), .heartbeat = 200ms});
  });
  run();
  client_.start(listener, "l");
  wait_for(
      [&] {
        clock_.advance(1ms);
        return is_terminal(status("l"));
      },
      "the attempt that knows what the one before had told");
  EXPECT_EQ(client_.status("l").output, 7);
  ASSERT_TRUE(told->gate.wait());
  EXPECT_EQ(told->reason.with([](const std::string& text) { return text; }),
            "the attempt gave no heartbeat for 200 ms");
}

}  // namespace

}  // namespace perdure::test::causes_of_limits_test
