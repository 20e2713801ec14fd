#include "tests/compile/order.h"

// Tasks are awaited once, futures have one owner.
namespace perdure::test {

Task<int> step(OrchestrationContext& ctx) {
  co_return co_await ctx.call(count);
}

Task<void> awaits_a_named_task(OrchestrationContext& ctx) {
  auto task = step(ctx);
#ifdef BAD_named_task  // wants: perdure: a Task is awaited once: co_await std::move(task)
  co_await task;
#else
  co_await std::move(task);
#endif
}

Task<void> copies_a_future(OrchestrationContext& ctx) {
  auto future = ctx.call(count);
#ifdef BAD_copied_future  // wants: perdure: a future has one owner: std::move it
  Future<int> copy = future;
#else
  Future<int> copy = std::move(future);
#endif
  co_await copy;
}

Task<void> assigns_a_future(OrchestrationContext& ctx) {
  Future<void> one = ctx.timer(1s);
  Future<void> two = ctx.timer(2s);
#ifdef BAD_assigned_future  // wants: perdure: a future has one owner: std::move it
  one = two;
#else
  one = std::move(two);
#endif
  co_await one;
}

Task<void> gives_too_many_types(OrchestrationContext& ctx) {
#ifdef BAD_nine_final_types  // wants: perdure: at most 8 non-retryable types
  const Retry policy = retry(3).except("1", "2", "3", "4", "5", "6", "7", "8", "9");
#else
  const Retry policy = retry(3).except("1", "2", "3", "4", "5", "6", "7", "8");
#endif
  co_await ctx.call(twice, 1, {.retry = policy});
}

}  // namespace perdure::test
