#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/testing.h>

#include "tests/testing/shop.h"

namespace perdure::test::checkout_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::TestRuntime;

TEST(Checkout, ShipsASmallOrderAtOnce) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  auto run = runtime.start(checkout, "o-1", small_order());
  EXPECT_EQ(run.result(), "shipped r-42");
  EXPECT_EQ(ledger.charged, std::vector<std::string>{"42"});
  EXPECT_EQ(ledger.shipped.size(), 3U);
  EXPECT_TRUE(ledger.refunded.empty());
  EXPECT_EQ(run.status().status, ExecutionStatus::kCompleted);
  EXPECT_EQ(run.status().output, "shipped r-42");
  EXPECT_EQ(run.status().custom_status, "payment");
  EXPECT_EQ(runtime.now(), run.status().started_at);
}

TEST(Checkout, RejectsAfterTwoDaysOfSilence) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  auto run = runtime.start(checkout, "o-1", big_order());
  runtime.advance(48h);
  EXPECT_EQ(run.result(), "rejected");
  EXPECT_TRUE(ledger.charged.empty());
}

TEST(Checkout, WaitsForTheWholeOfTheTwoDays) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  auto run = runtime.start(checkout, "o-1", big_order());
  runtime.advance(48h - 1s);
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  try {
    run.result();
    FAIL() << "it has not ended";
  } catch (const Conflict& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("event 'approved'"), std::string::npos) << text;
    EXPECT_NE(text.find("a timer until 2026-01-03T00:00:00"), std::string::npos) << text;
  }
  runtime.advance(1s);
  EXPECT_EQ(run.result(), "rejected");
}

TEST(Checkout, ShipsWhatIsApprovedAndForgetsTheTimer) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  auto run = runtime.start(checkout, "o-1", big_order());
  runtime.advance(24h);
  EXPECT_EQ(runtime.raise_event("o-1", approved, true), EventDelivered::kDelivered);
  EXPECT_EQ(run.result(), "shipped r-43");
  EXPECT_EQ(runtime.queued().runs_later, 0);
}

TEST(Checkout, RejectsWhatIsNotApproved) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  auto run = runtime.start(checkout, "o-1", big_order());
  runtime.raise_event("o-1", approved, false);
  EXPECT_EQ(run.result(), "rejected");
}

TEST(Checkout, RefundsWhenItIsCanceledAfterTheCharge) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  runtime.fake(ship, [&](Order order) {
    runtime.cancel("o-1", "customer changed their mind");
    return "label-" + order.id;
  });
  auto run = runtime.start(checkout, "o-1", small_order());
  EXPECT_THROW(run.result(), RunCanceled);
  EXPECT_EQ(run.outcome().reason(), "customer changed their mind");
  EXPECT_EQ(run.status().status, ExecutionStatus::kCanceled);
  EXPECT_EQ(run.status().cancel_reason, "customer changed their mind");
  EXPECT_EQ(ledger.refunded, std::vector<std::string>{"r-42"});
}

TEST(Checkout, RefundsAChargeThatWasUnderWayWhenTheCancelCame) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  bool told = false;
  runtime.fake(charge, [&](ActivityContext& ctx, Order order) {
    runtime.cancel("o-1", "too slow");
    told = ctx.is_cancellation_requested();
    return Receipt{"r-" + order.id};  // it could not be stopped any more
  });
  auto run = runtime.start(checkout, "o-1", small_order());
  EXPECT_EQ(run.outcome().reason(), "too slow");
  EXPECT_TRUE(told);
  EXPECT_EQ(ledger.refunded, std::vector<std::string>{"r-42"});
  EXPECT_TRUE(ledger.shipped.empty());
}

TEST(Checkout, RefundsNothingWhenTheChargeStoppedInTime) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  runtime.fake(charge, [&](ActivityContext& ctx, Order) -> Receipt {
    runtime.cancel("o-1", "in time");
    ctx.throw_if_canceled();
    return {"charged all the same"};
  });
  auto run = runtime.start(checkout, "o-1", small_order());
  EXPECT_EQ(run.outcome().reason(), "in time");
  EXPECT_TRUE(ledger.refunded.empty());
}

TEST(Checkout, SaysSoWhenTheRefundFailsForGood) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  runtime.fake(ship, [](Order) -> std::string { throw Failed("no_stock", "sold out"); });
  runtime.fake(refund, [](Receipt) { throw Failed("bank", "account closed", false); });
  auto run = runtime.start(checkout, "o-1", small_order());
  const Outcome<std::string> end = run.outcome();
  EXPECT_EQ(end.failure().type, kCompensationFailure);
  EXPECT_NE(end.failure().message.find("account closed"), std::string::npos);
}

TEST(Checkout, RefundsWhenShippingFails) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  runtime.fake(ship, [](Order) -> std::string { throw Failed("no_stock", "sold out"); });
  auto run = runtime.start(checkout, "o-1", small_order());
  try {
    run.result();
    FAIL() << "it must fail";
  } catch (const RunFailed& error) {
    EXPECT_EQ(error.failure().type, "no_stock");
    EXPECT_EQ(error.failure().message, "sold out");
  }
  EXPECT_EQ(ledger.refunded, std::vector<std::string>{"r-42"});
}

TEST(Checkout, ChargesAgainAfterGrowingPauses) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  runtime.fail_next(charge, 3, {"gateway", "no answer", true, {}});
  auto run = runtime.start(checkout, "o-1", small_order());
  runtime.run_until_idle();
  EXPECT_TRUE(ledger.charged.empty());
  runtime.advance(1s + 2s + 4s - 1ms);
  EXPECT_TRUE(ledger.charged.empty());
  runtime.advance(1ms);
  EXPECT_EQ(run.result(), "shipped r-42");
  EXPECT_EQ(ledger.keys, std::vector<std::string>{"o-1/1/3"});
}

TEST(Checkout, GivesUpWhenAllAttemptsHaveFailed) {
  Ledger ledger;
  TestRuntime runtime(shop(ledger));
  runtime.fail_next(charge, 5, {"gateway", "no answer", true, {}});
  auto run = runtime.start(checkout, "o-1", small_order());
  runtime.advance(1h);
  EXPECT_EQ(run.outcome().failure().type, "gateway");
  EXPECT_TRUE(ledger.charged.empty());
  EXPECT_TRUE(ledger.refunded.empty());
}

}  // namespace

}  // namespace perdure::test::checkout_test
