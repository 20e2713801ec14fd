#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include <perdure/client.h>
#include <perdure/perdure.h>
#include <perdure/runtime.h>

#include "provider/sqlite/options.h"
#include "tests/support/temp_dir.h"

/// Prints what a signal to one run costs, by the number that it has got: each sent by a client with
/// a request id, stored, taken by a turn of a runtime beside it. Judges no speed; fails only when
/// one is lost.
namespace {

using namespace perdure;
using namespace std::chrono_literals;

constexpr auto kHanging = 600s;

struct Heard {
  int next = 0;
  int out_of_order = 0;
};

constexpr Orchestration<int(int)> listener{"listener"};
constexpr Signal<int> tell{"tell"};

/// Gives the number of signals that came out of order.
Task<int> run_listener(OrchestrationContext& ctx, int wanted, Heard& heard) {
  co_await ctx.until([&] { return heard.next == wanted; });
  co_return heard.out_of_order;
}

struct Cost {
  double sent = 0;   ///< microseconds for each, until the last is stored
  double taken = 0;  ///< until the run has ended
  bool right = false;
};

Cost cost_of(int signals) {
  const support::TempDir dir;
  sqlite::Options options;
  options.path = dir.file("db");
  options.durability = sqlite::Durability::kRelaxed;
  const std::shared_ptr<Provider> store = sqlite::open(options).value();
  Registry registry;
  registry.add(listener, run_listener).signal(tell, [](Heard& heard, int number) {
    heard.out_of_order += number == heard.next ? 0 : 1;
    ++heard.next;
  });
  Runtime runtime(store, registry, RuntimeOptions());
  const Client client(store);
  const auto run = client.start(listener, "l", signals);
  const auto begin = std::chrono::steady_clock::now();
  const auto each = [&] {
    const std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - begin;
    return passed.count() / signals;
  };
  Cost cost;
  for (int i = 0; i < signals; ++i) {
    const std::string request_id = "s" + std::to_string(i);
    client.signal("l", tell, i, {.request_id = request_id});
  }
  cost.sent = each();
  cost.right = run.wait(kHanging) == 0;
  cost.taken = each();
  return cost;
}

}  // namespace

int main() {
  for (const int signals : {1'000, 10'000}) {
    const Cost cost = cost_of(signals);
    if (!cost.right) return 1;
    std::printf("%6d signals: sent in %.0f us each, taken in %.0f us each\n",
                signals,
                cost.sent,
                cost.taken);
  }
  return 0;
}
