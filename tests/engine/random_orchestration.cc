#include "tests/engine/random_orchestration.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "tests/engine/random_program.h"

namespace perdure::test {

namespace {

using namespace std::chrono_literals;

inline constexpr Activity<int(int)> kActs[] = {
    Activity<int(int)>{"act0"}, Activity<int(int)>{"act1"}, Activity<int(int)>{"s_act"}};
inline constexpr Activity<void(int)> kUndo{"undo"};
inline constexpr Orchestration<int(int)> kChild{"child"};
inline constexpr Orchestration<int(int)> kShieldedChild{"s_child"};
inline constexpr perdure::Event<int> kEvents[] = {
    perdure::Event<int>{"ev0"}, perdure::Event<int>{"ev1"}, perdure::Event<int>{"s_ev"}};

std::int64_t outside = 0;

/// What a run has seen so far, mixed into one number: inputs and branches depend on it, so a value
/// that a replay gives otherwise shows in the commands.
struct Trail {
  std::uint64_t seen = 0;
  std::int64_t told = 0;  ///< messages that were handled
  std::int64_t life = 0;
  std::int64_t seed = 0;
  Block program;
  /// Of handlers, by what they were told: they outlive the frames of those that run them.
  std::map<std::int64_t, Block> handler_programs;
};

class Actor {
 public:
  Actor(OrchestrationContext& ctx, bool shielded) : ctx_(ctx), shielded_(shielded) {}

  OrchestrationContext& ctx() const { return ctx_; }
  bool shielded() const { return shielded_; }
  Trail& trail() const { return ctx_.local<Trail>(); }
  void note(std::int64_t value) const {
    Trail& at = trail();
    at.seen = (at.seen ^ static_cast<std::uint64_t>(value)) * 0x100000001B3ULL + 1;
  }
  void note(const std::string& text) const {
    for (const char c : text) note(c);
  }
  int number() const { return static_cast<int>(trail().seen % 1000); }

  Call<int> call(int variant, ActivityOptions options = {}) const {
    constexpr OnCancel kPolicies[] = {
        OnCancel::kTryCancel, OnCancel::kWait, OnCancel::kAbandon, OnCancel::kTryCancel};
    options.on_cancel = kPolicies[variant % 4];
    options.priority = variant;
    const Activity<int(int)>& activity = kActs[shielded_ ? 2 : variant % 2];
    return ctx_.call(activity, number(), options);
  }
  Future<int> child(int variant) const {
    ChildOptions options;
    if (variant % 3 == 0) options.timeout = 5min;
    if (variant % 4 == 1) options.on_cancel = OnCancel::kWait;
    if (variant % 4 == 2) options.on_cancel = OnCancel::kAbandon;
    const std::string id = "child-" + std::to_string(trail().seen);
    if (variant % 2 == 0) options.id = id;
    return ctx_.call(shielded_ ? kShieldedChild : kChild, number(), options);
  }
  Future<void> timer(int variant) const {
    if (variant % 2 == 0) return ctx_.timer(std::chrono::minutes(variant));
    return ctx_.timer_at(ctx_.now() + 7min);
  }
  Future<int> event(int variant) const {
    return ctx_.wait_for(kEvents[shielded_ ? 2 : variant % 2]);
  }

 private:
  OrchestrationContext& ctx_;
  bool shielded_;
};

/// In which order handles are destroyed must not matter: compilers differ. Here live code and a
/// replay differ.
template <class T>
void destroy(const Actor& actor, std::vector<T>& handles) {
  if (actor.ctx().is_replaying()) {
    while (!handles.empty()) handles.pop_back();
  } else {
    for (T& handle : handles) T gone = std::move(handle);
    handles.clear();
  }
}

template <class T>
void note_outcome(const Actor& actor, const Outcome<T>& outcome) {
  actor.note(static_cast<std::int64_t>(outcome.kind()));
  if constexpr (!std::is_void_v<T>) {
    if (outcome.ok()) actor.note(outcome.value());
  }
  actor.note(outcome.failure().type);
  actor.note(outcome.reason());
}

Task<int> run_block(Actor actor, const Block& block);

Task<void> join_each(Actor actor, std::vector<Future<int>>& futures) {
  for (Future<int>& future : futures) {
    // A result of the wrong shape is thrown even here.
    try {
      note_outcome(actor, co_await future.outcome());
    } catch (const Failed& failed) {
      actor.note(failed.failure().type);
    }
  }
}

std::vector<Future<int>> make_calls(const Actor& actor, const Instruction& order) {
  std::vector<Future<int>> calls;
  for (int i = 0; i <= order.count; ++i) calls.push_back(actor.call(order.variant + i));
  return calls;
}

Task<void> run_race(Actor actor, const Instruction& order) {
  std::vector<Future<int>> calls = make_calls(actor, order);
  const std::size_t first = co_await when_any(calls);
  actor.note(static_cast<std::int64_t>(first));
  if (order.variant % 4 == 0) actor.note(calls[first].get());
  if (order.variant % 4 == 1) co_await join_each(actor, calls);
  if (order.variant % 4 == 2) {
    for (Future<int>& call : calls) call.detach();
    calls.clear();
  }
  destroy(actor, calls);
}

Task<void> run_mixed_race(Actor actor, const Instruction& order) {
  auto call = actor.call(order.variant);
  auto timer = actor.timer(order.variant);
  auto event = actor.event(order.variant);
  const std::size_t first = co_await when_any(event, timer, call);
  actor.note(static_cast<std::int64_t>(first));
  if (order.variant % 2 == 0 && first == 0) actor.note(event.get());
  if (order.variant % 3 == 0) actor.note(co_await call);
  if (order.variant % 5 == 0) co_await timer;
}

Task<void> run_join(Actor actor, const Instruction& order) {
  if (order.what == Do::kJoinNamed) {
    auto call = actor.call(order.variant);
    auto timer = actor.timer(order.variant);
    auto child = actor.child(order.variant);
    const auto values = co_await when_all(call, timer, child);
    actor.note(std::get<0>(values));
    actor.note(std::get<2>(values));
    co_return;
  }
  std::vector<Future<int>> calls = make_calls(actor, order);
  for (const int value : co_await when_all(std::move(calls))) actor.note(value);
}

Task<void> run_scope(Actor actor, const Instruction& order) {
  std::vector<Scope> scopes;
  std::vector<Future<int>> tasks;
  for (int i = 0; i < order.count; ++i) {
    scopes.push_back(actor.ctx().scope());
    Task<int> first = run_block(actor, order.body);
    tasks.push_back(scopes.back().spawn(std::move(first)));
    Task<int> second = run_block(actor, order.other);
    tasks.push_back(scopes.back().spawn(std::move(second)));
  }
  if (order.variant % 2 == 0) actor.note(static_cast<std::int64_t>(co_await when_any(tasks)));
  if (order.variant % 4 == 1) scopes.front().cancel("changed its mind");
  if (order.variant % 4 != 2) co_await join_each(actor, tasks);
  if (order.variant == 6) {
    for (Future<int>& task : tasks) task.detach();
  }
  destroy(actor, scopes);
  destroy(actor, tasks);
}

Task<void> run_try(Actor actor, const Instruction& order) {
  bool caught = false;
  try {
    actor.note(co_await run_block(actor, order.body));
  } catch (const Failed& failed) {
    actor.note(failed.failure().type);
    caught = true;
  } catch (const Canceled& canceled) {
    if (order.variant % 2 == 0) throw;
    actor.note(canceled.reason());
    caught = true;
  } catch (...) {
    if (order.variant % 3 == 0) throw;
    caught = true;
  }
  if (caught) co_await run_block(actor, order.other);
}

Task<void> run_shield(Actor actor, const Instruction& order) {
  Task<int> cleanup = run_block(Actor(actor.ctx(), true), order.body);
  auto shielded = actor.ctx().shield(std::move(cleanup));
  if (order.variant == 7) co_return;
  if (order.variant == 6) {
    auto patience = actor.timer(order.variant);
    actor.note(static_cast<std::int64_t>(co_await when_any(shielded, patience)));
  }
  actor.note(co_await shielded);
}

Task<void> run_until(Actor actor, const Instruction& order) {
  const Trail& trail = actor.trail();
  const std::int64_t enough = trail.told + order.variant % 3;
  const auto holds = [&] {
    if (order.variant == 5 && trail.told > enough) throw Failed("too_much", "told", false);
    if (order.variant == 6) return trail.seen % 4 == 1;
    return trail.told >= enough;
  };
  auto condition = actor.ctx().until(holds);
  auto patience = actor.timer(order.variant);
  const std::size_t first = co_await when_any(condition, patience);
  actor.note(static_cast<std::int64_t>(first));
  if (first == 0) condition.get();
}

/// What ends without waiting. False: not one of these.
bool run_value(const Actor& actor, const Instruction& order) {
  OrchestrationContext& ctx = actor.ctx();
  switch (order.what) {
    case Do::kSideEffect:
      actor.note(ctx.side_effect([] { return ++outside; }));
      return true;
    case Do::kUuid:
      actor.note(ctx.uuid());
      return true;
    case Do::kRandom:
      actor.note(static_cast<std::int64_t>(ctx.random()));
      return true;
    case Do::kPatched:
      actor.note(ctx.patched("patch-" + std::to_string(order.variant % 3)) ? 1 : 0);
      return true;
    case Do::kStatus:
      ctx.set_status(actor.number());
      return true;
    case Do::kLog:
      ctx.log("seen " + std::to_string(actor.number()));
      actor.note(to_micros(ctx.now()));
      return true;
    case Do::kStartDetached:
      ctx.start_detached(actor.shielded() ? kShieldedChild : kChild, ctx.uuid(), actor.number());
      return true;
    case Do::kDropCalls: {
      std::vector<Future<int>> calls = make_calls(actor, order);
      destroy(actor, calls);
      return true;
    }
    case Do::kDetach:
      actor.call(order.variant).detach();
      return true;
    case Do::kThrow:
      throw Failed("thrown", "by the program", false);
    default:
      return false;
  }
}

Task<void> run_await(Actor actor, const Instruction& order) {
  switch (order.what) {
    case Do::kCall:
      actor.note(co_await actor.call(order.variant));
      break;
    case Do::kOutcome: {
      auto call = actor.call(order.variant);
      note_outcome(actor, co_await call.outcome());
      break;
    }
    case Do::kUndoable: {
      Future<int> call = actor.call(order.variant).undo_with(kUndo);
      if (order.variant == 7) break;
      actor.note(co_await call);
      break;
    }
    case Do::kChild:
      actor.note(co_await actor.child(order.variant));
      break;
    case Do::kTimer:
      co_await actor.timer(order.variant);
      break;
    case Do::kEvent:
      actor.note(co_await actor.event(order.variant));
      break;
    case Do::kSubTask:
      actor.note(co_await run_block(actor, order.body));
      break;
    case Do::kBranch:
      actor.note(co_await run_block(actor, actor.number() % 2 == 0 ? order.body : order.other));
      break;
    case Do::kLoop:
      for (int i = 0; i < order.count; ++i) actor.note(co_await run_block(actor, order.body));
      break;
    case Do::kContinueAsNew: {
      const Trail& trail = actor.trail();
      if (trail.life + 1 >= kLives) break;
      const std::int64_t next = trail.seed * kLives + trail.life + 1;
      co_await actor.ctx().continue_as_new(random_run, next);
      break;
    }
    default:
      break;
  }
}

Task<void> run_one(Actor actor, const Instruction& order) {
  switch (order.what) {
    case Do::kRaceCalls:
      return run_race(actor, order);
    case Do::kRaceKinds:
      return run_mixed_race(actor, order);
    case Do::kJoinCalls:
    case Do::kJoinNamed:
      return run_join(actor, order);
    case Do::kScope:
      return run_scope(actor, order);
    case Do::kTry:
      return run_try(actor, order);
    case Do::kShield:
      return run_shield(actor, order);
    case Do::kUntil:
      return run_until(actor, order);
    default:
      return run_await(actor, order);
  }
}

Task<int> run_block(Actor actor, const Block& block) {
  std::vector<Future<int>> spawned;
  for (const Instruction& order : block) {
    if (order.what == Do::kSpawn) {
      Task<int> task = run_block(actor, order.body);
      spawned.push_back(actor.ctx().spawn(std::move(task)));
    } else if (order.what == Do::kJoinSpawned) {
      std::vector<Future<int>> all = std::exchange(spawned, {});
      for (const int value : co_await when_all(std::move(all))) actor.note(value);
    } else if (order.what == Do::kDropSpawned) {
      destroy(actor, spawned);
    } else if (!run_value(actor, order)) {
      co_await run_one(actor, order);
    }
  }
  co_return actor.number();
}

Task<int> run_random(OrchestrationContext& ctx, std::int64_t input) {
  Trail& trail = ctx.local<Trail>();
  trail.life = input % kLives;
  trail.seed = input / kLives;
  trail.program = make_program(static_cast<std::uint64_t>(input));
  co_return co_await run_block(Actor(ctx, false), trail.program);
}

Task<int> run_handler(Actor actor, std::int64_t told) {
  Trail& trail = actor.trail();
  ++trail.told;
  actor.note(told);
  const Block& program =
      trail.handler_programs
          .try_emplace(told, make_handler_program(static_cast<std::uint64_t>(told)))
          .first->second;
  co_return co_await run_block(actor, program);
}

/// In a handler that a cancel of the run reaches, or in one that it does not reach.
template <bool kOfRun>
Task<int> take_update(OrchestrationContext& ctx, Trail&, std::int64_t told) {
  return run_handler(Actor(ctx, !kOfRun), told);
}

template <bool kOfRun>
Task<void> take_signal(OrchestrationContext& ctx, Trail&, std::int64_t told) {
  co_await run_handler(Actor(ctx, !kOfRun), told);
}

void refuse_some(const Trail& trail, const std::int64_t& told) {
  if ((trail.seen + static_cast<std::uint64_t>(told)) % 7 == 0)
    throw Failed("refused", "by chance");
}

}  // namespace

void add_random_run(Registry& registry) {
  const MessageOptions of_run{.cancel_with_run = true};
  registry.add(random_run, run_random)
      .signal(random_signal, take_signal<false>)
      .signal(random_signal_of_run, take_signal<true>, of_run)
      .signal(plain_signal,
              [](Trail& trail, std::int64_t told) {
                ++trail.told;
                trail.seen += static_cast<std::uint64_t>(told);
              })
      .update(random_update, take_update<false>)
      .update(
          random_update_of_run,
          take_update<true>,
          [](const Trail& trail, const std::int64_t& told) { refuse_some(trail, told); },
          of_run)
      .query(digest, [](const Trail& trail) { return std::to_string(trail.seen); });
}

void set_outside_world(std::int64_t value) {
  outside = value;
}

}  // namespace perdure::test
