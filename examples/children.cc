// Child orchestrations: runs of their own that another run starts and waits for.

#include <iostream>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

constexpr pd::Activity<int(std::string)> weigh{"weigh"};
constexpr pd::Orchestration<int(std::string)> parcel{"parcel"};
constexpr pd::Orchestration<std::string(std::vector<std::string>)> shipment{"shipment"};

// [child]
pd::Task<int> run_parcel(pd::OrchestrationContext& ctx, std::string content) {
  const int grams = co_await ctx.call(weigh, content);
  if (grams > 20'000) throw pd::Failed("too_heavy", content + " is too heavy for a parcel");
  co_return grams;
}
// [/child]

// [parent]
pd::Task<std::string> run_shipment(pd::OrchestrationContext& ctx,
                                   std::vector<std::string> contents) {
  std::vector<pd::Future<int>> parcels;
  for (const std::string& content : contents) {
    const std::string id = ctx.instance_id() + "/" + content;
    parcels.push_back(ctx.call(parcel, content, {.id = id}));  // all of them start now
  }
  int grams = 0;
  std::string refused;
  for (pd::Future<int>& each : parcels) {
    const pd::Outcome<int> weight = co_await each.outcome();  // a value: no exception
    if (weight) grams += weight.value();
    if (!weight) refused += "; " + weight.failure().message;
  }
  co_return std::to_string(grams) + " g" + refused;
}
// [/parent]

int main(int argc, char** argv) {
  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");
  pd::Registry registry;
  registry.add(weigh, [](std::string content) { return content == "piano" ? 300'000 : 700; });
  registry.add(parcel, run_parcel);
  registry.add(shipment, run_shipment);
  pd::Runtime runtime(store, registry);
  pd::Client client(store);

  const auto run = client.start(shipment, "s-1", {"books", "piano", "shoes"});
  std::cout << run.wait(30s) << '\n';
  // [tree]
  for (const pd::RunTreeNode& node : client.tree("s-1").nodes) {
    const bool done = node.run.status == pd::ExecutionStatus::kCompleted;
    std::cout << std::string(2 * node.depth, ' ') << node.run.id << (done ? "" : " failed") << '\n';
  }
  // [/tree]
}

// Prints:
//   1400 g; piano is too heavy for a parcel
//   s-1
//     s-1/books
//     s-1/piano failed
//     s-1/shoes
