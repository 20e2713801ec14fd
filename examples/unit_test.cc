// Tests of an orchestration: no threads, no files, no waiting.

#include <gtest/gtest.h>

#include <perdure/perdure.h>
#include <perdure/testing.h>

namespace pd = perdure;
using namespace std::chrono_literals;

namespace {

struct Order {
  std::string id, card;
  int cents = 0;
};
struct Receipt {
  std::string id;
};
PERDURE_JSON(Order, id, card, cents)
PERDURE_JSON(Receipt, id)

constexpr pd::Activity<Receipt(Order)> charge{"charge"};
constexpr pd::Activity<void(Receipt)> refund{"refund"};
constexpr pd::Activity<std::string(Order)> ship{"ship"};
constexpr pd::Orchestration<std::string(Order)> checkout{"checkout"};
constexpr pd::Event<bool> approved{"approved"};

pd::Task<std::string> run_checkout(pd::OrchestrationContext& ctx, Order order) {
  if (order.cents > 100'000) {
    auto decision = ctx.wait_for(approved);
    auto patience = ctx.timer(48h);
    if (co_await pd::when_any(decision, patience) == 1 || !decision.get()) co_return "rejected";
  }
  co_await ctx.call(charge, order, {.retry = pd::retry(3, 1min)}).undo_with(refund);
  co_return co_await ctx.call(ship, order);
}

pd::Registry registry() {
  pd::Registry all;
  all.add(charge, [](Order order) { return Receipt{"r-" + order.id}; });
  all.add(ship, [](Order order) { return "label-" + order.id; });
  all.add(checkout, run_checkout);
  return all;
}

Order big_order() {
  return {"42", "4111", 200'000};
}

// [time]
TEST(Checkout, RejectsAfterTwoDaysOfSilence) {
  pd::testing::TestRuntime runtime(registry());
  auto run = runtime.start(checkout, "o-1", big_order());
  runtime.advance(48h);
  EXPECT_EQ(run.result(), "rejected");
}
// [/time]

TEST(Checkout, ShipsWhatWasApproved) {
  pd::testing::TestRuntime runtime(registry());
  auto run = runtime.start(checkout, "o-1", big_order());
  runtime.advance(47h);
  runtime.raise_event("o-1", approved, true);
  EXPECT_EQ(run.result(), "label-42");
}

// [failures]
TEST(Checkout, TriesTheChargeAgain) {
  pd::testing::TestRuntime runtime(registry());
  runtime.fail_next(charge, 2, {.type = "gateway", .message = "no answer"});
  auto run = runtime.start(checkout, "o-1", {"7", "4111", 100});
  runtime.advance(2min);  // the second attempt after a minute, the third after another one
  EXPECT_EQ(run.result(), "label-7");
}
// [/failures]

// [cancel]
TEST(Checkout, RefundsWhenCanceledWhileItShips) {
  std::vector<std::string> refunded;
  pd::testing::TestRuntime runtime(registry());
  runtime.fake(refund, [&](Receipt receipt) { refunded.push_back(receipt.id); });
  runtime.fake(ship, [&](pd::ActivityContext& ctx, Order order) {
    runtime.cancel("o-1", "changed their mind");  // in the middle of the call
    ctx.throw_if_canceled();
    return "label-" + order.id;
  });
  auto run = runtime.start(checkout, "o-1", {"7", "4111", 100});
  EXPECT_THROW(run.result(), pd::RunCanceled);
  EXPECT_EQ(refunded, std::vector<std::string>{"r-7"});
}
// [/cancel]

}  // namespace
