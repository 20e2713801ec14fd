#include "cli/bench/soak_code.h"

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <perdure/perdure.h>

#include "base/random.h"

namespace perdure::bench {

namespace {

using std::chrono::milliseconds;

constexpr Activity<Number(Number)> kQuick{"soak_quick"};
constexpr Activity<Number(Number)> kNap{"soak_nap"};
constexpr Activity<Number(Number)> kDeaf{"soak_deaf"};
constexpr Activity<Number(Number)> kEndless{"soak_endless"};
constexpr Activity<Number(Number)> kShaky{"soak_shaky"};
constexpr Activity<Number(Number)> kKept{"soak_kept"};
constexpr Activity<Number(Number)> kReserve{"soak_reserve"};
constexpr Activity<void(Number)> kRelease{"soak_release"};

constexpr Number kLongestNap = 16;  ///< milliseconds
constexpr std::int64_t kMostExecutions = 3;
constexpr int kMaxGenerations = 4;
constexpr std::uint64_t kMostSeeds = std::uint64_t{1} << 48U;

/// Throws the same for the same input and execution.
class Dice {
 public:
  Dice(Number input, std::int64_t execution)
      : random_(static_cast<std::uint64_t>(input) * 31 + static_cast<std::uint64_t>(execution)) {}

  std::uint64_t next() { return random_.next(); }
  Number below(Number end) {
    return static_cast<Number>(random_.next() % static_cast<std::uint64_t>(end));
  }
  bool one_in(Number cases) { return below(cases) == 0; }

 private:
  SeededRandom random_;
};

Future<Number> some_call(OrchestrationContext& ctx, Dice& dice) {
  const Number value = dice.below(kLongestNap);
  const milliseconds limit(1 + value);
  switch (dice.below(8)) {
    case 0:
      return ctx.call(kQuick, value);
    case 1:
      return ctx.call(kNap, value);
    case 2:
      return ctx.call(kDeaf, 2 * value);
    case 3:
      return ctx.call(
          kEndless, value, {.retry = retry(2, milliseconds(1)), .start_to_close = limit});
    case 4:
      return ctx.call(kEndless, value, {.timeout = limit});
    case 5:
      return ctx.call(kShaky, value, {.retry = retry(3, milliseconds(1))});
    case 6:
      return ctx.call(kKept, 2 * value, {.on_cancel = OnCancel::kWait});
    default:
      return ctx.call(kReserve, value).undo_with(kRelease);
  }
}

Future<Number> some_child(OrchestrationContext& ctx, Dice& dice, int generation) {
  ChildOptions options;
  if (dice.one_in(12)) options.close_policy = ClosePolicy::kAbandon;
  if (dice.one_in(8)) options.timeout = milliseconds(5 + dice.below(40));
  if (dice.one_in(4)) options.on_cancel = OnCancel::kWait;
  return ctx.call(kSoakNode, soak_input(generation + 1, dice.next()), options);
}

std::vector<Future<Number>> some_parts(OrchestrationContext& ctx, Dice& dice, int generation) {
  std::vector<Future<Number>> parts;
  const Number children = generation < kSoakGenerations ? 1 + dice.below(2) : 0;
  for (Number i = 0; i < children; ++i) parts.push_back(some_child(ctx, dice, generation));
  const Number calls = 1 + dice.below(2);
  for (Number i = 0; i < calls; ++i) parts.push_back(some_call(ctx, dice));
  return parts;
}

/// Under a shield: after a cancel. By itself or by a child, which nobody above may cancel.
Task<void> clean_up(OrchestrationContext& ctx, Number value) {
  if (value % 2 == 0) {
    co_await ctx.call(kKept, value);
  } else {
    co_await ctx.call(kSoakCleaner, value);
  }
}

Task<Number> run_soak_cleaner(OrchestrationContext& ctx, Number value) {
  co_return co_await ctx.call(kKept, value);
}

Task<Number> run_soak_node(OrchestrationContext& ctx, Number input) {
  Dice dice(input, ctx.execution());
  std::vector<Future<Number>> parts =
      some_parts(ctx, dice, static_cast<int>(input % kMaxGenerations));
  Number sum = 0;
  switch (dice.below(4)) {
    case 0:
      for (const Number each : co_await when_all(std::move(parts))) sum += each;
      break;
    case 1: {
      // The others are given up, or outstanding when the run ends.
      auto limit = ctx.timer(milliseconds(dice.below(kLongestNap)));
      co_await when_any(parts.front(), limit);
      if (dice.one_in(2)) parts.clear();
      break;
    }
    default:
      for (Future<Number>& part : parts) {
        const Outcome<Number> outcome = co_await part.outcome();
        if (outcome.ok()) sum += outcome.value();
      }
  }
  if (ctx.is_canceled()) co_await ctx.shield(clean_up(ctx, dice.below(4)));
  if (dice.one_in(6)) throw Failed("soak_failed", "as the dice fell", false);
  if (ctx.execution() < kMostExecutions && dice.one_in(4)) {
    co_await ctx.continue_as_new(kSoakNode, input);
  }
  co_return sum;
}

/// How a handler ends that was told to stop and has not returned yet. Each of the three must leave
/// no trace in the history of the run.
Number end_late(ActivityContext& ctx, Number value) {
  if (!ctx.is_cancellation_requested()) return value;
  if (value % 3 == 1) throw Failed(std::string(kLateFailure), "too late", false);
  if (value % 3 == 2) ctx.throw_if_canceled();
  return kLateResult;
}

/// Adds a handler that is counted while it runs.
template <class R, class F>
void add_counted(Registry& registry,
                 const std::shared_ptr<SoakHandlers>& handlers,
                 const Activity<R(Number)>& activity,
                 F handler) {
  registry.add(activity, [handlers, handler](ActivityContext& ctx, Number value) -> R {
    struct Inside {
      explicit Inside(std::atomic<std::int64_t>& handlers_inside) : count(handlers_inside) {
        ++count;
      }
      Inside(const Inside&) = delete;
      Inside& operator=(const Inside&) = delete;
      ~Inside() { --count; }
      std::atomic<std::int64_t>& count;
    };
    const Inside inside(handlers->inside);
    return handler(ctx, value);
  });
}

void sleep_deaf(Number value) {
  std::this_thread::sleep_for(milliseconds(value));
}

}  // namespace

Number soak_input(int generation, std::uint64_t seed) {
  return static_cast<Number>(seed % kMostSeeds) * kMaxGenerations + generation;
}

bool outlasts_cancel(std::string_view activity) {
  return activity == kKept.name() || activity == kReserve.name() || activity == kRelease.name();
}

void add_soak_code(Registry& registry, const std::shared_ptr<SoakHandlers>& handlers) {
  static_assert(kSoakGenerations < kMaxGenerations);
  registry.add(kSoakNode, run_soak_node);
  registry.add(kSoakCleaner, run_soak_cleaner);
  add_counted(registry, handlers, kQuick, [](ActivityContext&, Number value) { return value; });
  add_counted(registry, handlers, kNap, [](ActivityContext& ctx, Number value) {
    ctx.sleep_for(milliseconds(value));
    return value;
  });
  add_counted(registry, handlers, kDeaf, [](ActivityContext& ctx, Number value) {
    sleep_deaf(value);
    return end_late(ctx, value);
  });
  add_counted(registry, handlers, kEndless, [](ActivityContext& ctx, Number value) {
    ctx.wait_until_canceled();
    return end_late(ctx, value);
  });
  add_counted(registry, handlers, kShaky, [](ActivityContext& ctx, Number value) {
    if (ctx.attempt() < 2 + value % 3) throw Failed("soak_shaky", "once more");
    return value;
  });
  add_counted(registry, handlers, kKept, [](ActivityContext&, Number value) {
    sleep_deaf(value);
    return value;
  });
  add_counted(registry, handlers, kReserve, [](ActivityContext&, Number value) {
    sleep_deaf(value);
    return value;
  });
  add_counted(
      registry, handlers, kRelease, [](ActivityContext&, Number value) { sleep_deaf(value); });
}

}  // namespace perdure::bench
