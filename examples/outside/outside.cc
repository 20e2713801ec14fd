// A program outside of Perdure's tree: built with find_package(perdure), nothing else.
//
//     outside STORE     makes one order in the store, sqlite:PATH, and prints its end
//     outside replay .. the command line of Perdure with this program's code
#include <chrono>
#include <exception>
#include <iostream>
#include <string>

#include <perdure/cli.h>
#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

struct Order {
  std::string id;
  int parcels = 0;
};
PERDURE_JSON(Order, id, parcels)

inline constexpr pd::Activity<std::string(Order)> charge{"charge"};
inline constexpr pd::Activity<std::string(int)> ship{"ship"};
inline constexpr pd::Orchestration<std::string(Order)> checkout{"checkout"};

static pd::Task<std::string> run_checkout(pd::OrchestrationContext& ctx, Order order) {
  std::string done = co_await ctx.call(charge, order);
  for (int i = 1; i <= order.parcels; ++i) done += ", " + co_await ctx.call(ship, i);
  co_return done;
}

static pd::Registry code() {
  pd::Registry registry;
  registry.add(checkout, run_checkout);
  registry.add(charge, [](Order order) { return "charged " + order.id; });
  registry.add(ship, [](int parcel) { return "parcel " + std::to_string(parcel); });
  return registry;
}

int main(int argc, char** argv) {
  if (argc != 2) return pd::cli_main(argc, argv, code());
  try {
    const auto store = pd::open(argv[1]);
    const pd::Runtime runtime(store, code());
    const pd::Client client(store);
    const auto run = client.start(checkout, "order-42", Order{"42", 2});
    std::cout << run.wait(60s) << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "outside: " << error.what() << '\n';
    return 1;
  }
}
