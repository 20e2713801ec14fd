#include "tests/engine/kitchen_sink.h"

#include <utility>
#include <vector>

namespace perdure::test {

namespace {

using namespace std::chrono_literals;

inline constexpr Activity<int(int)> kFetch{"fetch"};
inline constexpr Activity<int(int)> kPay{"pay"};
inline constexpr Activity<void(int)> kRefund{"refund"};
inline constexpr Activity<void()> kPing{"ping"};
inline constexpr Activity<int(int)> kCleanUp{"s_clean_up"};
inline constexpr Orchestration<int(int)> kHelper{"helper"};
inline constexpr perdure::Event<int> kDoor{"door"};
inline constexpr perdure::Event<int> kPhone{"phone"};

std::map<std::string, int> counts;

/// Passes what is about to be awaited through.
template <class A>
A&& counted(const char* kind, A&& awaitable) {
  ++counts[kind];
  return std::forward<A>(awaitable);
}

/// The values that came back, in order.
class Notes {
 public:
  void add(const std::string& text) { all_ += (all_.empty() ? "" : ",") + text; }
  void add(int value) { add(std::to_string(value)); }
  const std::string& all() const { return all_; }

 private:
  std::string all_;
};

template <class T>
std::string text_of(const Outcome<T>& outcome) {
  if (outcome.ok()) return "ok " + std::to_string(outcome.value());
  return outcome.failure().type.empty() ? "canceled" : outcome.failure().type;
}

Task<int> fetch_twice(OrchestrationContext& ctx, int value) {
  const int once = co_await counted("activity in a sub-task", ctx.call(kFetch, value));
  co_return co_await counted("activity in a sub-task", ctx.call(kFetch, once));
}

Task<int> wait_and_fetch(OrchestrationContext& ctx, int value) {
  co_await counted("timer in a task", ctx.timer(2min));
  co_return co_await counted("activity in a task", ctx.call(kFetch, value));
}

Task<int> clean_up(OrchestrationContext& ctx, int value) {
  const int done = co_await counted("activity under a shield", ctx.call(kCleanUp, value));
  co_await counted("timer under a shield", ctx.timer(1s));
  co_return done;
}

Task<int> fail_after(OrchestrationContext& ctx) {
  co_await counted("timer in a task", ctx.timer(3s));
  throw Failed("spoiled", "on purpose");
}

Task<void> calls(OrchestrationContext& ctx, Notes& notes) {
  notes.add(co_await counted("activity", ctx.call(kFetch, 1)));
  co_await counted("activity without a value", ctx.call(kPing));
  auto quiet = ctx.call(kFetch, 2);
  notes.add(text_of(co_await counted("activity outcome", quiet.outcome())));
  notes.add(co_await counted("activity with undo", ctx.call(kPay, 3).undo_with(kRefund)));
  ActivityOptions patient;
  patient.on_cancel = OnCancel::kWait;
  notes.add(co_await counted("activity that outlasts a cancel", ctx.call(kFetch, 4, patient)));
  notes.add(co_await counted("child", ctx.call(kHelper, 5)));
  ChildOptions limited;
  limited.timeout = 1h;
  auto child = ctx.call(kHelper, 6, limited);
  notes.add(text_of(co_await counted("child outcome", child.outcome())));
}

Task<void> time_and_events(OrchestrationContext& ctx, Notes& notes) {
  co_await counted("timer", ctx.timer(30min));
  co_await counted("timer at a time", ctx.timer_at(ctx.now() + 1h));
  notes.add(co_await counted("event", ctx.wait_for(kDoor)));
  auto first = ctx.wait_for(kDoor);
  auto second = ctx.wait_for(kPhone);
  notes.add(co_await counted("event", second));
  notes.add(co_await counted("event that may be there", first));
}

Task<void> races(OrchestrationContext& ctx, Notes& notes) {
  {
    auto call = ctx.call(kFetch, 7);
    auto patience = ctx.timer(5min);
    auto door = ctx.wait_for(kDoor);
    const std::size_t winner = co_await counted("when_any", when_any(call, patience, door));
    notes.add("won " + std::to_string(winner));
    notes.add(co_await counted("future after when_any", call));
  }
  std::vector<Future<int>> calls;
  for (int i = 0; i < 4; ++i) calls.push_back(ctx.call(kFetch, 10 + i));
  const std::size_t winner = co_await counted("when_any over a vector", when_any(calls));
  notes.add(calls[winner].get());
  calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(winner));
  auto all = when_all(std::move(calls));
  for (const int value : co_await counted("when_all over a vector", all)) notes.add(value);
  auto fetched = ctx.call(kFetch, 20);
  auto rest = ctx.timer(1min);
  auto helped = ctx.call(kHelper, 21);
  const auto values = co_await counted("when_all", when_all(fetched, rest, helped));
  notes.add(std::get<0>(values) + std::get<2>(values));
}

Task<void> tasks(OrchestrationContext& ctx, Notes& notes) {
  notes.add(co_await fetch_twice(ctx, 30));
  ++counts["sub-task"];
  Task<int> beside = wait_and_fetch(ctx, 31);
  auto spawned = ctx.spawn(std::move(beside));
  notes.add(co_await counted("activity", ctx.call(kFetch, 32)));
  notes.add(co_await counted("spawned task", spawned));
  Task<int> cleanup = clean_up(ctx, 33);
  auto shielded = ctx.shield(std::move(cleanup));
  notes.add(co_await counted("shield", shielded));
  Scope scope = ctx.scope();
  Task<int> inside = wait_and_fetch(ctx, 34);
  auto scoped = scope.spawn(std::move(inside));
  Task<int> spoiled = fail_after(ctx);
  auto failing = scope.spawn(std::move(spoiled));
  notes.add(text_of(co_await counted("outcome of a task in a scope", failing.outcome())));
  notes.add(co_await counted("task in a scope", scoped));
  Task<int> unwanted = wait_and_fetch(ctx, 35);
  auto canceled = scope.spawn(std::move(unwanted));
  scope.cancel("not needed");
  notes.add(text_of(co_await counted("outcome of a canceled task", canceled.outcome())));
}

void values(OrchestrationContext& ctx, Notes& notes) {
  notes.add(ctx.uuid());
  notes.add(std::to_string(ctx.random()));
  notes.add(ctx.side_effect([] { return 42; }));
  notes.add(ctx.patched("new-path") ? "patched" : "old");
  ctx.set_status(notes.all().size());
  ctx.start_detached(kHelper, ctx.uuid(), 1);
  ctx.call(kFetch, 99).detach();
  ctx.log("half way");
}

Task<std::string> run_kitchen_sink(OrchestrationContext& ctx, int) {
  Notes notes;
  co_await calls(ctx, notes);
  ++counts["sub-task"];
  co_await time_and_events(ctx, notes);
  ++counts["sub-task"];
  values(ctx, notes);
  co_await races(ctx, notes);
  ++counts["sub-task"];
  notes.add(co_await counted("activity with undo", ctx.call(kPay, 40).undo_with(kRefund)));
  co_await tasks(ctx, notes);
  ++counts["sub-task"];
  co_return notes.all();
}

}  // namespace

void add_kitchen_sink(Registry& registry) {
  registry.add(kitchen_sink, run_kitchen_sink);
}

std::map<std::string, int> take_await_counts() {
  return std::exchange(counts, {});
}

}  // namespace perdure::test
