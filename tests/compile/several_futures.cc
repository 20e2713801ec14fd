#include "tests/compile/order.h"

// when_all and when_any take named futures, or a vector.
namespace perdure::test {

Task<void> any_of_temporaries(OrchestrationContext& ctx) {
#ifdef BAD_any_of_temporaries  // wants: perdure: when_all and when_any take named futures
  co_await when_any(ctx.call(twice, 1), ctx.timer(1s));
#else
  auto call = ctx.call(twice, 1);
  auto timer = ctx.timer(1s);
  co_await when_any(call, timer);
#endif
}

Task<void> any_of_mixed(OrchestrationContext& ctx) {
  auto call = ctx.call(twice, 1);
#ifdef BAD_any_of_mixed  // wants: perdure: when_all and when_any take named futures
  co_await when_any(call, ctx.timer(1s));
#else
  co_await when_any(call);
#endif
}

Task<void> all_of_temporaries(OrchestrationContext& ctx) {
#ifdef BAD_all_of_temporaries  // wants: perdure: when_all and when_any take named futures
  co_await when_all(ctx.call(twice, 1), ctx.call(twice, 2));
#else
  auto one = ctx.call(twice, 1);
  auto two = ctx.call(twice, 2);
  co_await when_all(one, two);
#endif
}

Task<void> all_of_mixed(OrchestrationContext& ctx) {
  auto one = ctx.call(twice, 1);
#ifdef BAD_all_of_mixed  // wants: perdure: when_all and when_any take named futures
  co_await when_all(ctx.timer(1s), one);
#else
  co_await when_all(one);
#endif
}

Task<void> all_of_moved(OrchestrationContext& ctx) {
  auto one = ctx.call(twice, 1);
#ifdef BAD_all_of_moved  // wants: perdure: when_all and when_any take named futures
  co_await when_all(std::move(one));
#else
  co_await when_all(one);
#endif
}

Task<void> any_of_a_lost_vector(OrchestrationContext& ctx) {
  std::vector<Future<int>> calls;
  calls.push_back(ctx.call(twice, 1));
#ifdef BAD_any_of_moved_vector  // wants: perdure: when_any leaves the futures with their owner
  co_await when_any(std::move(calls));
#else
  co_await when_any(calls);
#endif
}

Task<void> all_of_a_named_vector(OrchestrationContext& ctx) {
  std::vector<Future<int>> calls;
  calls.push_back(ctx.call(twice, 1));
#ifdef BAD_all_of_named_vector  // wants: perdure: when_all takes the vector over
  co_await when_all(calls);
#else
  co_await when_all(std::move(calls));
#endif
}

Task<void> any_of_nothing(OrchestrationContext& ctx) {
#ifdef BAD_any_of_nothing  // wants: perdure: when_any of nothing never ends
  co_await when_any();
#else
  auto timer = ctx.timer(1s);
  co_await when_any(timer);
#endif
}

}  // namespace perdure::test
