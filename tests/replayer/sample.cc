#include "tests/replayer/sample.h"

#include <gtest/gtest.h>

namespace perdure::test {

namespace {

using namespace std::chrono_literals;

template <Change kChange>
Task<std::string> run_checkout(OrchestrationContext& ctx, Order order) {
  if (order.cents > 1000) {
    auto decision = ctx.wait_for(approved);
    auto patience = ctx.timer(48h);
    if (co_await when_any(decision, patience) == 1 || !decision.get()) co_return "rejected";
    if constexpr (kChange == Change::kEarlyReturn) co_return "approved";
  }
  ctx.set_status("payment");
  Order charged = order;
  if constexpr (kChange == Change::kOtherInput) charged.cents += 1;
  const std::string receipt =
      co_await ctx.call(charge, charged, {.retry = retry(5, 1s)}).undo_with(refund);
  if constexpr (kChange == Change::kAddedCall) co_await ctx.call(notify, receipt);
  if constexpr (kChange == Change::kPatchedCall) {
    if (ctx.patched("notify")) co_await ctx.call(notify, receipt);
  }
  const std::string parcel = ctx.uuid();
  if constexpr (kChange == Change::kRemovedCall) co_return receipt;
  if constexpr (kChange == Change::kTimerForCall) {
    co_await ctx.timer(1h);
  } else if constexpr (kChange == Change::kRenamedCall) {
    co_await ctx.call(notify, parcel);
  } else if constexpr (kChange == Change::kReordered) {
    co_await ctx.call(delivery, parcel, {.id = "delivery-" + order.id});
    co_await ctx.call(ship, parcel);
    co_return receipt;
  } else {
    co_await ctx.call(ship, parcel);
  }
  const std::string id = (kChange == Change::kOtherChildId ? "delivery/" : "delivery-") + order.id;
  const std::string signature = co_await ctx.call(delivery, parcel, {.id = id, .timeout = 72h});
  co_return receipt + " " + signature;
}

/// Ends when it is closed; a reservation may take longer.
Task<int> run_cart(OrchestrationContext& ctx, int items, Cart& state) {
  state.items += items;
  co_await ctx.until([&] { return state.closed; });
  co_return state.items;
}

Task<std::string> reserve_items(OrchestrationContext& ctx, Cart& state, int items) {
  const std::string label = co_await ctx.call(ship, std::to_string(items));
  state.items += items;
  co_return label;
}

template <Change kChange>
Registry with() {
  Registry registry;
  registry.add(checkout, run_checkout<kChange>);
  registry.add(cart, run_cart)
      .signal(put, [](Cart& state, int items) { state.items += items; })
      .signal(close_cart, [](Cart& state) { state.closed = true; })
      .update(reserve, reserve_items);
  return registry;
}

ScriptedRun started(int cents) {
  return ScriptedRun(sample(), "checkout", Json(Order{"42", cents}).dump());
}

EventId open_child(const ScriptedRun& run) {
  return EventId{run.children().empty() ? 0 : run.children().begin()->first};
}

}  // namespace

Registry sample(Change change) {
  switch (change) {
    case Change::kNone:
      return with<Change::kNone>();
    case Change::kRenamedCall:
      return with<Change::kRenamedCall>();
    case Change::kAddedCall:
      return with<Change::kAddedCall>();
    case Change::kRemovedCall:
      return with<Change::kRemovedCall>();
    case Change::kReordered:
      return with<Change::kReordered>();
    case Change::kTimerForCall:
      return with<Change::kTimerForCall>();
    case Change::kOtherChildId:
      return with<Change::kOtherChildId>();
    case Change::kEarlyReturn:
      return with<Change::kEarlyReturn>();
    case Change::kOtherInput:
      return with<Change::kOtherInput>();
    case Change::kPatchedCall:
      return with<Change::kPatchedCall>();
  }
  return {};
}

replayer::RecordedHistory recorded(const ScriptedRun& run, const std::string& name) {
  replayer::RecordedHistory history;
  history.instance_id = "run-1";
  history.name = name;
  history.queue = "default";
  history.events = run.history();
  return history;
}

std::map<std::string, replayer::RecordedHistory> sample_histories() {
  std::map<std::string, replayer::RecordedHistory> all;

  ScriptedRun whole = started(5000);
  whole.start();
  whole.advance(1min);
  whole.raise("approved", "true");
  whole.complete("charge", "\"receipt-7\"");
  whole.advance(90s);
  whole.complete("ship", "\"label-1\"");
  whole.turn({whole.child(open_child(whole), MessageKind::kChildCompleted, "\"signed\"")});
  EXPECT_EQ(whole.output(), "\"receipt-7 signed\"");
  all["approved_and_delivered"] = recorded(whole, "checkout");

  ScriptedRun silent = started(5000);
  silent.start();
  silent.fire();
  EXPECT_EQ(silent.output(), "\"rejected\"");
  all["rejected_after_two_days"] = recorded(silent, "checkout");

  ScriptedRun failed = started(500);
  failed.start();
  failed.complete("charge", "\"receipt-8\"");
  failed.fail("ship", {"no_stock", "nothing left of \"42\"", false, "{\"left\":0}"});
  failed.complete("refund");
  EXPECT_EQ(failed.failure().type, "no_stock");
  all["failed_and_refunded"] = recorded(failed, "checkout");

  ScriptedRun canceled = started(500);
  canceled.start();
  canceled.complete("charge", "\"receipt-9\"");
  canceled.cancel("changed their mind");
  canceled.complete("refund");
  EXPECT_EQ(canceled.status(), ExecutionStatus::kCanceled);
  all["canceled_and_refunded"] = recorded(canceled, "checkout");

  ScriptedRun running = started(500);
  running.start();
  running.complete("charge", "\"receipt-10\"");
  EXPECT_NE(running.open_call("ship"), EventId{});
  all["waiting_for_the_parcel"] = recorded(running, "checkout");

  ScriptedRun drained(sample(), "cart", "1");
  drained.signal("put", "2");  // before main
  drained.advance(1min);
  drained.update("reserve", "4", "r-1");
  drained.signal("put", "8");
  drained.signal("close");
  EXPECT_EQ(drained.status(), ExecutionStatus::kCompleting) << "a handler runs";
  drained.advance(90s);
  drained.complete("ship", "\"label-2\"");
  EXPECT_EQ(drained.output(), "11") << "as main said";
  all["drained_cart"] = recorded(drained, "cart");
  return all;
}

}  // namespace perdure::test
