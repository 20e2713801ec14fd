#pragma once

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <perdure/runtime.h>

#include "tests/client/client_fixture.h"
#include "tests/live/log_lines.h"

/// What the tests of signals, updates and queries share: a run that is told and asked, and a
/// runtime that serves it.
namespace perdure::test::messages {

/// The state of a run of `till`.
struct Till {
  std::vector<int> taken;
  std::string close;  ///< how main is to end; empty: not yet
  bool released = false;

  int sum() const { return std::accumulate(taken.begin(), taken.end(), 0); }
};

/// Begins with its input, ends with the sum of all that it has taken.
inline constexpr Orchestration<int(int)> till{"till"};

inline constexpr Signal<int> put{"put"};
/// "done", "fail" or "again": returns, fails, or continues as new with its sum.
inline constexpr Signal<std::string> close_as{"close_as"};
inline constexpr Signal<void> release{"release"};
inline constexpr Event<void> go{"go"};

inline constexpr Update<int(int)> add{"add"};        ///< the sum then; refuses what is negative
inline constexpr Update<int(int)> ponder{"ponder"};  ///< the same, when it is released
inline constexpr Update<int(int)> linger{"linger"};  ///< the same, when the event `go` has come
inline constexpr Update<int(int)> order{"order"};    ///< the same, of twice the amount, by a call
inline constexpr Update<int(int)> spoil{"spoil"};    ///< fails
inline constexpr Update<void()> clear{"clear"};

inline constexpr Orchestration<int()> bell{"bell"};  ///< takes no input; ends by `release`

inline constexpr Query<int()> total{"total"};
inline constexpr Query<int(int)> total_and{"total_and"};
inline constexpr Query<std::vector<int>()> taken{"taken"};
inline constexpr Query<int()> sick{"sick"};  ///< fails

// Of the same names, and of other types.
inline constexpr Update<int(std::string)> add_text{"add"};
inline constexpr Update<std::string(int)> add_to_text{"add"};
inline constexpr Signal<std::string> put_text{"put"};
inline constexpr Query<int(std::string)> total_and_text{"total_and"};
inline constexpr Query<std::string()> total_as_text{"total"};

inline constexpr Update<void(int)> clear_with{"clear"};
inline constexpr Query<int(int)> total_with{"total"};

// Of names that nobody knows.
inline constexpr Update<int(int)> no_update{"no_update"};
inline constexpr Signal<int> no_signal{"no_signal"};
inline constexpr Query<int()> no_query{"no_query"};

inline Task<int> run_till(OrchestrationContext& ctx, int begin, Till& state) {
  state.taken.insert(state.taken.begin(), begin);
  co_await ctx.until([&] { return !state.close.empty(); });
  if (state.close == "fail") throw Failed("robbed", "the till is gone", false);
  if (state.close == "again") co_await ctx.continue_as_new(till, state.sum());
  co_return state.sum();
}

inline Task<int> ponder_it(OrchestrationContext& ctx, Till& state, int amount) {
  co_await ctx.until([&] { return state.released; });
  state.taken.push_back(amount);
  co_return state.sum();
}

inline Task<int> linger_on(OrchestrationContext& ctx, Till& state, int amount) {
  co_await ctx.wait_for(go);
  state.taken.push_back(amount);
  co_return state.sum();
}

inline Task<int> order_it(OrchestrationContext& ctx, Till& state, int amount) {
  state.taken.push_back(co_await ctx.call(twice, amount));
  co_return state.sum();
}

inline Task<int> run_bell(OrchestrationContext& ctx, Till& state) {
  co_await ctx.until([&] { return state.released; });
  co_return state.sum();
}

/// What this file declares, and what the fixture of clients does.
inline Registry till_code() {
  Registry registry = sample();
  registry.add(till, run_till)
      .signal(put, [](Till& state, int amount) { state.taken.push_back(amount); })
      .signal(close_as, [](Till& state, std::string how) { state.close = how; })
      .signal(release, [](Till& state) { state.released = true; })
      .update(
          add,
          [](Till& state, int amount) {
            state.taken.push_back(amount);
            return state.sum();
          },
          [](const Till&, const int& amount) {
            if (amount < 0) throw Failed("negative", "nothing is taken out", false);
          })
      .update(ponder, ponder_it)
      .update(linger, linger_on)
      .update(order, order_it)
      .update(spoil,
              [](Till&, int) -> int { throw Failed("no_change", "the till is empty", false); })
      .update(clear, [](Till& state) { state.taken.clear(); })
      .query(total, [](const Till& state) { return state.sum(); })
      .query(total_and, [](const Till& state, int more) { return state.sum() + more; })
      .query(taken, [](const Till& state) { return state.taken; })
      .query(sick, [](const Till&) -> int { throw Failed("dizzy", "not today", false); });
  registry.add(bell, run_bell)
      .signal(put, [](Till& state, int amount) { state.taken.push_back(amount); })
      .signal(release, [](Till& state) { state.released = true; })
      .update(add,
              [](Till& state, int amount) {
                state.taken.push_back(amount);
                return state.sum();
              })
      .update(clear, [](Till& state) { state.taken.clear(); });
  return registry;
}

inline RuntimeOptions short_intervals() {
  RuntimeOptions options;
  options.cancellation_poll_interval = 20ms;
  options.store_poll_interval = 20ms;
  options.process_heartbeat_interval = 20ms;
  return options;
}

/// A runtime over the store of a fixture, begun when a test says so.
template <class Fixture>
class Served : public Fixture {
 protected:
  void serve(const Registry& registry = till_code()) {
    runtime_ = std::make_unique<Runtime>(this->store_, registry, short_intervals());
  }
  void stop_serving() { runtime_.reset(); }

  const Client& client() const { return this->client_; }
  /// A run of `till` that has had its first turn.
  Run<int> begun(const std::string& id, int begin = 0) {
    auto run = client().start(till, id, begin);
    EXPECT_EQ(client().query(id, total, {.timeout = kPatience}), begin);
    return run;
  }
  /// Made while nobody serves the run, or nobody answers: left to itself.
  template <class R>
  void send_only(const std::string& id, const Update<R(int)>& update, int input, const char* as) {
    EXPECT_THROW(client().update(id, update, input, {.update_id = as, .timeout = 0ms}),
                 Unavailable);
  }
  void close(const std::string& id, const std::string& how) { client().signal(id, close_as, how); }
  /// Of an execution (0: the current one).
  std::vector<RunEvent> history(const std::string& id, std::int64_t execution = 0) const {
    return client().history(id, {.execution = execution, .limit = 100'000}).events;
  }
  int count(const std::string& id, const std::string& kind, std::int64_t execution = 0) const {
    int found = 0;
    for (const RunEvent& event : history(id, execution)) found += event.kind == kind ? 1 : 0;
    return found;
  }
  /// Waits until it holds.
  void wait_until(const std::function<bool()>& done, const std::string& what) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "waited in vain for " << what;
      this->store_->wait_for_change({.after = this->store_->change_mark(), .bound = 2ms});
    }
  }
  void wait_for_status(const std::string& id, ExecutionStatus status) {
    wait_until([&] { return client().status(id).status == status; }, "the status of " + id);
  }

  LogLines log_;

 private:
  std::unique_ptr<Runtime> runtime_;
};

/// What the call fails with: the type of the failure that a `Thrown` carries.
template <class Thrown>
std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Thrown& error) {
    return error.failure().type;
  }
  return "(nothing thrown)";
}

}  // namespace perdure::test::messages
