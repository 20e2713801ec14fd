#include "tests/compile/order.h"

// A temporary of an aggregate or closure that owns something is refused by every member of the
// context that takes a value: g++ 12 would destroy it twice inside a co_await expression.
namespace perdure::test {

Order make_order();

Task<void> calls_an_activity(OrchestrationContext& ctx) {
#ifdef BAD_activity_temporary  // wants: perdure: name this value on the line before
  co_await ctx.call(charge, Order{"a", 1});
#else
  const Order order{"a", 1};
  co_await ctx.call(charge, order);
#endif
}

Task<void> calls_an_activity_with_a_result(OrchestrationContext& ctx) {
#ifdef BAD_activity_function_result  // wants: perdure: name this value on the line before
  co_await ctx.call(charge, make_order());
#else
  const Order order = make_order();
  co_await ctx.call(charge, order);
#endif
}

Task<void> calls_an_activity_with_a_moved_value(OrchestrationContext& ctx) {
  Order order{"a", 1};
#ifdef BAD_activity_moved_value  // wants: perdure: name this value on the line before
  co_await ctx.call(charge, std::move(order));
#else
  co_await ctx.call(charge, order);
#endif
}

Task<void> calls_an_activity_with_braces(OrchestrationContext& ctx) {
#ifdef BAD_activity_braces  // wants: perdure: name this value on the line before
  co_await ctx.call(charge, {"a", 1});
#else
  const Order order{"a", 1};
  co_await ctx.call(charge, order, {.queue = "gpu", .timeout = 10s});
#endif
}

Task<void> keeps_the_call(OrchestrationContext& ctx) {
#ifdef BAD_activity_kept  // wants: perdure: name this value on the line before
  auto future = ctx.call(charge, Order{"a", 1});
#else
  const Order order{"a", 1};
  auto future = ctx.call(charge, order);
#endif
  co_await future;
}

Task<void> calls_with_undo(OrchestrationContext& ctx) {
#ifdef BAD_activity_with_undo  // wants: perdure: name this value on the line before
  co_await ctx.call(charge, Order{"a", 1}).undo_with(refund);
#else
  const Order order{"a", 1};
  co_await ctx.call(charge, order).undo_with(refund, {.retry = retry(3)});
#endif
}

Task<void> calls_a_child(OrchestrationContext& ctx) {
#ifdef BAD_child_temporary  // wants: perdure: name this value on the line before
  co_await ctx.call(checkout, Order{"a", 1});
#else
  const Order order{"a", 1};
  co_await ctx.call(checkout, order, {.id = "child"});
#endif
}

Task<void> starts_detached(OrchestrationContext& ctx) {
#ifdef BAD_detached_temporary  // wants: perdure: name this value on the line before
  ctx.start_detached(checkout, "other", Order{"a", 1});
#else
  const Order order{"a", 1};
  ctx.start_detached(checkout, "other", order);
#endif
  co_return;
}

Task<void> continues_as_new(OrchestrationContext& ctx) {
#ifdef BAD_continue_temporary  // wants: perdure: name this value on the line before
  co_await ctx.continue_as_new(checkout, Order{"a", 1});
#else
  const Order order{"a", 1};
  co_await ctx.continue_as_new(checkout, order);
#endif
}

Task<void> sets_a_status(OrchestrationContext& ctx) {
#ifdef BAD_status_temporary  // wants: perdure: name this value on the line before
  ctx.set_status(Order{"a", 1});
#else
  const Order order{"a", 1};
  ctx.set_status(order);
  ctx.set_status("approval");
#endif
  co_return;
}

Task<void> records_a_side_effect(OrchestrationContext& ctx) {
  const std::string text = "a";
#ifdef BAD_side_effect_closure  // wants: perdure: name this value on the line before
  ctx.set_status(ctx.side_effect([text] { return text; }));
#else
  const auto copy = [text] { return text; };
  ctx.set_status(ctx.side_effect(copy));
  ctx.set_status(ctx.side_effect([&] { return text; }));
#endif
  co_return;
}

Task<void> passes_an_array(OrchestrationContext& ctx) {
  static constexpr Activity<void(std::array<std::string, 2>)> pair{"pair"};
#ifdef BAD_std_array  // wants: perdure: name this value on the line before
  co_await ctx.call(pair, std::array<std::string, 2>{"a", "b"});
#else
  const std::array<std::string, 2> texts{"a", "b"};
  co_await ctx.call(pair, texts);
#endif
}

}  // namespace perdure::test
