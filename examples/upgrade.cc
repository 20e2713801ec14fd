// New code while runs of the old code are under way: `patched`, and versions side by side.

#include <atomic>
#include <iostream>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

constexpr pd::Activity<std::string(std::string)> step{"step"};
constexpr pd::Orchestration<std::string()> order{"order"};
constexpr pd::Orchestration<std::string()> label{"label"};
constexpr pd::Event<bool> packed{"packed"};

// [before]
pd::Task<std::string> run_order_before(pd::OrchestrationContext& ctx) {
  std::string done = co_await ctx.call(step, "charged");
  co_await ctx.wait_for(packed);
  done += co_await ctx.call(step, "shipped");
  co_return done;
}
// [/before]

// [after]
pd::Task<std::string> run_order_after(pd::OrchestrationContext& ctx) {
  std::string done;
  if (ctx.patched("insure first")) done += co_await ctx.call(step, "insured");
  done += co_await ctx.call(step, "charged");
  co_await ctx.wait_for(packed);
  done += co_await ctx.call(step, "shipped");
  co_return done;
}
// [/after]

pd::Task<std::string> run_label_1(pd::OrchestrationContext& ctx) {
  const std::string done = co_await ctx.call(step, "printed in black");
  co_await ctx.wait_for(packed);
  co_return done;
}

pd::Task<std::string> run_label_2(pd::OrchestrationContext& ctx) {
  co_return co_await ctx.call(step, "printed in color");  // nothing in common with the old code
}

int main(int argc, char** argv) {
  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");
  pd::Client client(store);
  std::atomic<int> steps = 0;
  const auto do_step = [&](std::string what) {
    ++steps;
    steps.notify_all();
    return " " + what;
  };

  const auto old_order = client.start(order, "order-1");
  const auto old_label = client.start(label, "label-1");
  {
    pd::Registry registry;
    registry.add(step, do_step);
    registry.add(order, run_order_before);
    registry.add(label, run_label_1, "1");
    pd::Runtime runtime(store, registry);
    for (int seen = steps; seen < 2; seen = steps) steps.wait(seen);
  }  // stopped for the deployment: both runs are in the middle of their code

  // [registry]
  pd::Registry registry;
  registry.add(step, do_step);
  registry.add(order, run_order_after);   // one code for old and new runs
  registry.add(label, run_label_1, "1");  // runs that began with 1 stay on it
  registry.add(label, run_label_2, "2");  // new ones take the newest
  pd::Runtime runtime(store, registry);
  // [/registry]
  const auto new_order = client.start(order, "order-2");
  const auto new_label = client.start(label, "label-2");
  for (const char* id : {"order-1", "label-1", "order-2"}) client.raise_event(id, packed, true);
  for (const auto& run : {old_order, new_order, old_label, new_label}) {
    std::cout << run.id() << ":" << run.wait(30s) << '\n';
  }
}

// Prints:
//   order-1: charged shipped
//   order-2: insured charged shipped
//   label-1: printed in black
//   label-2: printed in color
