#include "tests/testing/shop.h"

namespace perdure::test {

using namespace std::chrono_literals;

Task<std::string> run_checkout(OrchestrationContext& ctx, Order order, Progress& progress) {
  if (order.cents > 100'000) {
    auto decision = ctx.wait_for(approved);
    auto patience = ctx.timer(48h);
    if (co_await when_any(decision, patience) == 1 || !decision.get()) co_return "rejected";
  }
  progress.stage = "payment";
  ctx.set_status(progress.stage);
  Receipt receipt =
      co_await ctx.call(charge, order, {.retry = retry(5, 1s), .timeout = 10min}).undo_with(refund);

  std::vector<Future<std::string>> parcels;
  for (int i = 0; i < 3; ++i) parcels.push_back(ctx.call(ship, order));
  for (const std::string& label : co_await when_all(std::move(parcels))) {
    progress.notes.push_back(label);
  }
  co_return "shipped " + receipt.id;
}

Registry shop(Ledger& ledger) {
  Registry registry;
  registry.add(checkout, run_checkout);
  registry.add(charge, [&ledger](ActivityContext& ctx, Order order) {
    ledger.charged.push_back(order.id);
    ledger.keys.push_back(ctx.idempotency_key());
    return Receipt{"r-" + order.id};
  });
  registry.add(refund, [&ledger](Receipt receipt) { ledger.refunded.push_back(receipt.id); });
  registry.add(ship, [&ledger](Order order) {
    ledger.shipped.push_back(order.id);
    return "label-" + order.id;
  });
  return registry;
}

Order small_order() {
  return {"42", "4111", 1999};
}

Order big_order() {
  return {"43", "4111", 250'000};
}

}  // namespace perdure::test
