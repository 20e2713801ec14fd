#include "tests/compile/order.h"

// The input has the type that the contract names.
namespace perdure::test {

Task<void> activity_with_another_type(OrchestrationContext& ctx) {
  const Receipt receipt{"a"};
#ifdef BAD_activity_input  // wants: perdure: the input has not the type that the contract names
  co_await ctx.call(charge, receipt);
#else
  const Order order{receipt.id, 1};
  co_await ctx.call(charge, order);
#endif
}

Task<void> activity_with_a_fraction(OrchestrationContext& ctx) {
#ifdef BAD_fraction_for_an_integer  // wants: perdure: the input has not the type that the contract
  co_await ctx.call(twice, 1.5);
#else
  co_await ctx.call(twice, short{1});
#endif
}

Task<void> activity_with_a_pointer(OrchestrationContext& ctx) {
#ifdef BAD_text_for_a_boolean  // wants: perdure: the input has not the type that the contract names
  co_await ctx.call(toggle, "off");
#else
  co_await ctx.call(toggle, false);
#endif
}

Task<void> child_with_another_type(OrchestrationContext& ctx) {
#ifdef BAD_child_input  // wants: perdure: the input has not the type that the contract names
  co_await ctx.call(counter, std::string("one"));
#else
  co_await ctx.call(counter, 1);
#endif
}

Task<void> detached_with_another_type(OrchestrationContext& ctx) {
#ifdef BAD_detached_input  // wants: perdure: the input has not the type that the contract names
  ctx.start_detached(counter, "other", std::string("one"));
#else
  ctx.start_detached(counter, "other", 1);
#endif
  co_return;
}

Task<void> continued_with_another_type(OrchestrationContext& ctx) {
#ifdef BAD_continue_input  // wants: perdure: the input has not the type that the contract names
  co_await ctx.continue_as_new(counter, std::string("one"));
#else
  co_await ctx.continue_as_new(counter, 1);
#endif
}

Task<void> undo_of_another_type(OrchestrationContext& ctx) {
  const Order order{"a", 1};
#ifdef BAD_undo_input  // wants: perdure: an undo takes what the call gives
  co_await ctx.call(charge, order).undo_with(unorder);
#else
  co_await ctx.call(charge, order).undo_with(refund);
#endif
}

}  // namespace perdure::test
