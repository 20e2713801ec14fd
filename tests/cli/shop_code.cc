#include "tests/cli/shop_code.h"

namespace perdure::test {

namespace {

constexpr Activity<int(int)> charge{"charge"};
constexpr Activity<std::string(int)> ship{"ship"};
constexpr Activity<void(int)> notify{"notify"};
constexpr Event<std::string> answer{"answer"};

template <bool kAfter>
Task<std::string> run_checkout(OrchestrationContext& ctx, int cents) {
  const int receipt = co_await ctx.call(charge, cents);
  if constexpr (kAfter) co_await ctx.call(notify, receipt);
  co_return co_await ctx.call(ship, receipt);
}

template <bool kAfter>
Task<int> run_pricing(OrchestrationContext& ctx, int cents) {
  co_return co_await ctx.call(charge, kAfter ? cents + 1 : cents);
}

Task<int> run_counter(OrchestrationContext& ctx, int from) {
  const int next = co_await ctx.call(charge, from);
  if (ctx.execution() < 3) co_await ctx.continue_as_new(counter, next);
  co_return next;
}

Task<std::string> run_waiter(OrchestrationContext& ctx) {
  co_return co_await ctx.wait_for(answer);
}

Task<int> run_seven(OrchestrationContext&) {
  co_return 7;
}

template <bool kAfter>
Registry code() {
  Registry registry;
  registry.add(checkout, run_checkout<kAfter>);
  registry.add(pricing, run_pricing<kAfter>);
  registry.add(counter, run_counter);
  registry.add(waiter, run_waiter);
  registry.add(ruled, run_seven, kAfter ? "2.0" : "1.0");
  registry.add(charge, [](int cents) { return cents + 1; });
  registry.add(ship, [](int receipt) { return "parcel " + std::to_string(receipt); });
  return registry;
}

}  // namespace

Registry code_before() {
  Registry registry = code<false>();
  registry.add(foreign, run_seven);
  return registry;
}

Registry code_after() {
  return code<true>();
}

}  // namespace perdure::test
