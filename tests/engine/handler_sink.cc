#include "tests/engine/handler_sink.h"

#include <utility>
#include <vector>

namespace perdure::test {

namespace {

using namespace std::chrono_literals;

struct Pantry {
  std::vector<std::string> notes;
  int delivered = 0;
  int tasted = 0;
};

// What begins with "s_" is called where a cancel does not reach.
inline constexpr Activity<int(int)> kGet{"s_fetch"};
inline constexpr Activity<int(int)> kBuy{"s_pay"};
inline constexpr Activity<void(int)> kReturn{"refund"};
inline constexpr Activity<int(int)> kLay{"lay"};
inline constexpr Orchestration<int(int)> kCookHelp{"s_help"};
inline constexpr perdure::Event<int> kBell{"s_door"};
inline constexpr Signal<int> kDeliver{"deliver"};
inline constexpr Signal<std::string> kSeason{"season"};
inline constexpr Update<std::string(int)> kCook{"cook"};
inline constexpr Update<int(int)> kTaste{"taste"};
inline constexpr Update<int(int)> kGuess{"guess"};
inline constexpr Query<std::size_t()> kSize{"size"};

std::map<std::string, int> handler_counts;

/// Passes what is about to be awaited through.
template <class A>
A&& awaited_as(const char* kind, A&& awaitable) {
  ++handler_counts[kind];
  return std::forward<A>(awaitable);
}

void add(Pantry& kitchen, const std::string& note) {
  kitchen.notes.push_back(note);
}

Task<int> fetch_again(OrchestrationContext& ctx, int item) {
  const int once = co_await awaited_as("activity in a sub-task", ctx.call(kGet, item));
  co_return co_await awaited_as("activity in a sub-task", ctx.call(kGet, once));
}

Task<int> rest_and_fetch(OrchestrationContext& ctx, int item) {
  co_await awaited_as("timer in a task", ctx.timer(2min));
  co_return co_await awaited_as("activity in a task", ctx.call(kGet, item));
}

Task<std::string> cook_it(OrchestrationContext& ctx, Pantry& kitchen, int item) {
  const int paid =
      co_await awaited_as("activity with undo", ctx.call(kBuy, item).undo_with(kReturn));
  add(kitchen, "paid " + std::to_string(paid));
  co_await awaited_as("timer", ctx.timer(30min));
  const int helped = co_await awaited_as("child", ctx.call(kCookHelp, paid));
  const int twice = co_await fetch_again(ctx, helped);
  auto beside = ctx.spawn(rest_and_fetch(ctx, twice));
  auto fetched = ctx.call(kGet, 7);
  auto timer = ctx.timer(1min);
  const auto both = co_await awaited_as("when_all", when_all(fetched, timer));
  const int spawned = co_await awaited_as("spawned task", beside);
  co_return std::to_string(std::get<0>(both) + spawned);
}

Task<void> take_delivery(OrchestrationContext& ctx, Pantry& kitchen, int item) {
  auto call = ctx.call(kGet, item);
  const auto outcome = co_await awaited_as("activity outcome", call.outcome());
  add(kitchen, outcome.ok() ? "got " + std::to_string(outcome.value()) : outcome.failure().type);
  const int rung = co_await awaited_as("event", ctx.wait_for(kBell));
  auto other = ctx.wait_for(kBell);
  auto patience = ctx.timer(5min);
  const std::size_t first = co_await awaited_as("when_any", when_any(other, patience));
  add(kitchen, std::to_string(rung) + " " + std::to_string(first));
  co_await awaited_as("shield", ctx.shield(rest_and_fetch(ctx, item)));
  ++kitchen.delivered;
}

Task<int> taste_it(OrchestrationContext& ctx, Pantry& kitchen, int spoons) {
  co_await awaited_as("condition", ctx.until([&] { return kitchen.delivered >= spoons; }));
  Scope scope = ctx.scope();
  auto inside = scope.spawn(rest_and_fetch(ctx, spoons));
  const auto outcome = co_await awaited_as("task in a scope", inside.outcome());
  auto more = ctx.until([&] { return kitchen.delivered > spoons; });
  auto patience = ctx.timer(1h);
  const std::size_t first = co_await awaited_as("condition or timer", when_any(more, patience));
  ++kitchen.tasted;
  co_return (outcome.ok() ? outcome.value() : -1) + static_cast<int>(first);
}

Task<std::string> run_sink(OrchestrationContext& ctx, int guests, Pantry& kitchen) {
  for (int i = 0; i < guests; ++i)
    add(kitchen, "laid " + std::to_string(co_await ctx.call(kLay, i)));
  co_await ctx.until([&] { return kitchen.delivered >= 1; });
  add(kitchen, "served");
  std::string all;
  for (const std::string& note : kitchen.notes) all += note + ";";
  co_return all;
}

}  // namespace

void add_handler_sink(Registry& registry) {
  registry.add(handler_sink, run_sink)
      .signal(kDeliver, take_delivery)
      .signal(kSeason,
              [](Pantry& kitchen, std::string spice) {
                if (spice == "poison") throw Failed("poison", "not in this kitchen");
                add(kitchen, spice);
              })
      .update(kCook, cook_it)
      .update(kTaste, taste_it)
      .update(kGuess,
              [](OrchestrationContext& ctx, Pantry&, int item) -> Task<int> {
                co_return co_await awaited_as("activity canceled with the run",
                                              ctx.call(kLay, item));
              },
              {.cancel_with_run = true})
      .query(kSize, [](const Pantry& kitchen) { return kitchen.notes.size(); });
}

std::map<std::string, int> take_handler_await_counts() {
  return std::exchange(handler_counts, {});
}

}  // namespace perdure::test
