#include "tests/compile/order.h"

// What would be lost when nobody looks at it.
namespace perdure::test {

Task<int> step(OrchestrationContext& ctx) {
  co_return co_await ctx.call(count);
}

Task<void> ignores_a_call(OrchestrationContext& ctx) {
#ifdef BAD_ignored_call  // wants: perdure: a call that is dropped is canceled
  ctx.call(twice, 1);
#else
  ctx.call(twice, 1).detach();
#endif
  co_return;
}

Task<void> ignores_a_future(OrchestrationContext& ctx) {
#ifdef BAD_ignored_timer  // wants: perdure: a future that is dropped cancels what it stands for
  ctx.timer(1s);
#else
  ctx.timer(1s).detach();
#endif
  co_return;
}

Task<void> ignores_a_child(OrchestrationContext& ctx) {
#ifdef BAD_ignored_child  // wants: perdure: a future that is dropped cancels what it stands for
  ctx.call(counter, 1);
#else
  co_await ctx.call(counter, 1);
#endif
  co_return;
}

Task<void> ignores_an_undoable_call(OrchestrationContext& ctx) {
  const Order order{"a", 1};
#ifdef BAD_ignored_undo  // wants: perdure: a future that is dropped cancels what it stands for
  ctx.call(charge, order).undo_with(refund);
#else
  co_await ctx.call(charge, order).undo_with(refund);
#endif
  co_return;
}

Task<void> ignores_a_spawned_task(OrchestrationContext& ctx) {
#ifdef BAD_ignored_spawn  // wants: perdure: a future that is dropped cancels what it stands for
  ctx.spawn(step(ctx));
#else
  ctx.spawn(step(ctx)).detach();
#endif
  co_return;
}

Task<void> ignores_a_task(OrchestrationContext& ctx) {
#ifdef BAD_ignored_task  // wants: perdure: a task runs when it is awaited, spawned or shielded
  step(ctx);
#else
  co_await step(ctx);
#endif
  co_return;
}

Task<void> ignores_a_scope(OrchestrationContext& ctx) {
#ifdef BAD_ignored_scope  // wants: perdure: a scope that is dropped cancels what runs in it
  ctx.scope();
#else
  Scope scope = ctx.scope();
  co_await scope.spawn(step(ctx));
#endif
  co_return;
}

Task<void> ignores_an_awaitable_outcome(OrchestrationContext& ctx) {
  auto future = ctx.call(count);
#ifdef BAD_outcome_not_awaited  // wants: perdure: co_await the outcome
  future.outcome();
#else
  const auto outcome = co_await future.outcome();
  if (!outcome) co_return;
#endif
  co_return;
}

// g++ 12 does not warn of an ignored `co_await future.outcome()`: tools/check_awaits finds it.
void ignores_an_outcome(Outcome<int> (*how_it_went)()) {
#ifdef BAD_ignored_outcome  // wants: perdure: an outcome tells whether the call failed
  how_it_went();
#else
  if (!how_it_went()) return;
#endif
}

Task<void> goes_on_after_continue_as_new(OrchestrationContext& ctx) {
#ifdef BAD_ignored_continue_as_new  // wants: perdure: co_await it: the execution ends here
  ctx.continue_as_new(counter, 1);
#else
  co_await ctx.continue_as_new(counter, 1);
#endif
  co_return;
}

Task<void> ignores_when_any(OrchestrationContext& ctx) {
  auto timer = ctx.timer(1s);
#ifdef BAD_ignored_when_any  // wants: perdure: co_await when_any
  when_any(timer);
#else
  co_await when_any(timer);
#endif
  co_return;
}

Task<void> ignores_when_all(OrchestrationContext& ctx) {
  auto timer = ctx.timer(1s);
#ifdef BAD_ignored_when_all  // wants: perdure: co_await when_all
  when_all(timer);
#else
  co_await when_all(timer);
#endif
  co_return;
}

}  // namespace perdure::test
