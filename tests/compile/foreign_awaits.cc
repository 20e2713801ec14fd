#include <future>

#include "tests/compile/order.h"

// Only what Perdure gives can be awaited in an orchestration.
namespace perdure::test {
namespace {

/// Complete as an awaitable, and still not ours.
struct ForeignAwaitable {
  bool await_ready() const { return true; }
  void await_suspend(std::coroutine_handle<>) const {}
  int await_resume() const { return 1; }
};

/// A library's future: made awaitable by an operator.
struct ForeignFuture {
  ForeignAwaitable operator co_await() const { return {}; }
};

}  // namespace

Task<void> awaits_suspend_always(OrchestrationContext& ctx) {
#ifdef BAD_suspend_always  // wants: perdure: an orchestration can await only what Perdure gives it
  co_await std::suspend_always{};
#else
  co_await ctx.timer(1s);
#endif
}

Task<void> awaits_a_user_type(OrchestrationContext& ctx) {
#ifdef BAD_user_type  // wants: perdure: an orchestration can await only what Perdure gives it
  co_await ForeignAwaitable();
#else
  co_await ctx.call(twice, 1);
#endif
}

Task<void> awaits_an_operator(OrchestrationContext& ctx) {
#ifdef BAD_operator_co_await  // wants: perdure: an orchestration can await only what Perdure gives
  ForeignFuture foreign;
  co_await foreign;
#else
  auto future = ctx.call(twice, 1);
  co_await future;
#endif
}

Task<void> awaits_a_std_future(OrchestrationContext& ctx) {
#ifdef BAD_std_future  // wants: perdure: an orchestration can await only what Perdure gives it
  std::future<int> foreign;
  co_await std::move(foreign);
#else
  auto future = ctx.call(twice, 1);
  const auto outcome = co_await future.outcome();
  if (!outcome) co_return;
#endif
}

}  // namespace perdure::test
