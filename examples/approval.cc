// A person decides, or nobody does in time.

#include <iostream>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

// [contracts]
struct Expense {
  std::string what;
  int cents = 0;
  std::int64_t patience_ms = 0;
};
PERDURE_JSON(Expense, what, cents, patience_ms)

constexpr pd::Orchestration<std::string(Expense)> expense{"expense"};
constexpr pd::Event<bool> decided{"decided"};
// [/contracts]

// [orchestration]
pd::Task<std::string> run_expense(pd::OrchestrationContext& ctx, Expense wanted) {
  if (wanted.cents <= 5'000) co_return wanted.what + ": small, nobody was asked";

  ctx.set_status("waits for a decision");
  auto decision = ctx.wait_for(decided);
  auto patience = ctx.timer(std::chrono::milliseconds(wanted.patience_ms));
  if (co_await pd::when_any(decision, patience) == 1) {
    co_return wanted.what + ": nobody answered";
  }
  co_return wanted.what + (decision.get() ? ": approved" : ": rejected");
}  // the loser goes out of scope: it is canceled in the same commit
// [/orchestration]

int main(int argc, char** argv) {
  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");
  pd::Registry registry;
  registry.add(expense, run_expense);
  pd::Runtime runtime(store, registry);
  pd::Client client(store);

  const std::int64_t two_days = std::chrono::milliseconds(48h).count();
  const auto pencil = client.start(expense, "e-1", {"a pencil", 90, two_days});
  const auto chair = client.start(expense, "e-2", {"a chair", 20'000, two_days});
  const auto yacht = client.start(expense, "e-3", {"a yacht", 90'000'000, two_days});
  const auto plant = client.start(expense, "e-4", {"a plant", 6'000, 100});

  // [raise]
  client.raise_event("e-2", decided, true);  // from any process that has the store
  client.raise_event("e-3", decided, false);
  // [/raise]
  for (const auto& run : {pencil, chair, yacht, plant}) std::cout << run.wait(30s) << '\n';
}

// Prints:
//   a pencil: small, nobody was asked
//   a chair: approved
//   a yacht: rejected
//   a plant: nobody answered
