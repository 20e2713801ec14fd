#include "cli/bench/bench_code.h"

#include <thread>
#include <vector>

#include <perdure/when.h>

namespace perdure::bench {

namespace {

Task<Number> call_in_parallel(OrchestrationContext& ctx, Number first, Number count) {
  std::vector<Future<Number>> calls;
  for (Number i = 0; i < count; ++i) calls.push_back(ctx.call(kIncrement, first + i));
  Number sum = 0;
  for (const Number each : co_await when_all(std::move(calls))) sum += each;
  co_return sum;
}

Task<Number> call_in_a_row(OrchestrationContext& ctx, Number value, Number count) {
  for (Number i = 0; i < count; ++i) value = co_await ctx.call(kIncrement, value);
  co_return value;
}

/// Of `count` calls with `first` and the numbers behind it.
Number sum_of(Number first, Number count) {
  return count * first + count * (count + 1) / 2;
}

}  // namespace

Number fanout_of(Number input) {
  return sum_of(input, kFanoutWidth);
}

Number chain_of(Number input) {
  return input + kChainLength;
}

Number fanin_of(Number input) {
  return sum_of(0, input);
}

Registry make_bench_code(std::chrono::milliseconds activity_time,
                         std::function<void(Number)> on_call) {
  Registry registry;
  registry.add(kIncrement, [activity_time, on_call = std::move(on_call)](Number value) {
    if (on_call) on_call(value);
    if (activity_time.count() > 0) std::this_thread::sleep_for(activity_time);
    return value + 1;
  });
  registry.add(kHello, [](OrchestrationContext& ctx, Number value) -> Task<Number> {
    co_return co_await ctx.call(kIncrement, value);
  });
  registry.add(kFanout, [](OrchestrationContext& ctx, Number value) {
    return call_in_parallel(ctx, value, kFanoutWidth);
  });
  registry.add(kChain, [](OrchestrationContext& ctx, Number value) {
    return call_in_a_row(ctx, value, kChainLength);
  });
  registry.add(kFanin, [](OrchestrationContext& ctx, Number count) {
    return call_in_parallel(ctx, 0, count);
  });
  registry.add(kHistory, [](OrchestrationContext& ctx, Number count) {
    return call_in_a_row(ctx, 0, count);
  });
  return registry;
}

}  // namespace perdure::bench
