// The first program: an order that is charged and shipped.
//
//     hello                     on a store in memory
//     hello sqlite:orders.db    on a file: kill it anywhere, start it again, and it goes on

// [program]
#include <iostream>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

// [contracts]
constexpr pd::Activity<std::string(std::string)> charge{"charge"};
constexpr pd::Activity<void(std::string)> refund{"refund"};
constexpr pd::Activity<std::string(std::string)> ship{"ship"};
constexpr pd::Orchestration<std::string(std::string)> checkout{"checkout"};
// [/contracts]

// [orchestration]
pd::Task<std::string> run_checkout(pd::OrchestrationContext& ctx, std::string order) {
  const std::string receipt =
      co_await ctx.call(charge, order, {.retry = pd::retry(5, 1s)}).undo_with(refund);
  co_await ctx.timer(50ms);  // might be a month: no thread waits
  const std::string parcel = co_await ctx.call(ship, order, {.timeout = 10min});
  co_return receipt + ", " + parcel;  // a failure or a cancel after the charge refunds it
}
// [/orchestration]

// [main]
int main(int argc, char** argv) {
  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");

  pd::Registry registry;
  registry.add(charge, [](std::string order) { return "receipt for " + order; });
  registry.add(refund, [](std::string receipt) { std::cout << "refunded: " << receipt << '\n'; });
  registry.add(ship, [](std::string order) { return "parcel with " + order; });
  registry.add(checkout, run_checkout);

  pd::Runtime runtime(store, registry);
  pd::Client client(store);
  const auto run =
      client.start(checkout, "order-42", "tea", {.on_conflict = pd::OnConflict::kUseExisting});
  std::cout << run.id() << ": " << run.wait(30s) << '\n';
}
// [/main]
// [/program]

// Prints:
//   order-42: receipt for tea, parcel with tea
