#include <atomic>
#include <unistd.h>
#include <vector>

#include "tests/live/live_fixture.h"

/// What a handler is told of itself.
namespace perdure::test::author_view_test {

namespace {

constexpr Activity<int(int)> look{"look"};
constexpr Orchestration<int(int)> guide{"guide"};

/// The second execution calls `look` twice, one after the other.
Task<int> run_guide(OrchestrationContext& ctx, int round) {
  if (round == 1) {
    co_await ctx.continue_as_new(guide, 2);
  }
  co_await ctx.call(look, 1, {.retry = retry(2, 1ms), .timeout = 1h, .start_to_close = 10min});
  co_return co_await ctx.call(look, 2);
}

constexpr Orchestration<int(int)> both_limits{"both_limits"};

/// Each limit is once the earlier one.
Task<int> run_both_limits(OrchestrationContext& ctx, int value) {
  co_await ctx.call(look, value, {.timeout = 5h, .start_to_close = 1h});
  co_return co_await ctx.call(look, value, {.timeout = 2h, .start_to_close = 5h});
}

constexpr Orchestration<int(int)> one_limit{"one_limit"};

Task<int> run_one_limit(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(look, value, {.retry = retry(2, 1ms), .timeout = 3h});
}

struct Seen {
  detail::AttemptInfo info;
  TimePoint at;
};

class AuthorView : public Live {
 protected:
  AuthorView() {
    registry_.add(guide, run_guide, "2.1");
    registry_.add(both_limits, run_both_limits);
    registry_.add(one_limit, run_one_limit);
    registry_.add(look, [seen = seen_](ActivityContext& ctx, int value) {
      Seen now;
      now.info.instance_id = ctx.instance_id();
      now.info.execution = ctx.execution();
      now.info.orchestration = ctx.orchestration();
      now.info.orchestration_version = ctx.orchestration_version();
      now.info.activity = ctx.name();
      now.info.event_id = ctx.event_id();
      now.info.attempt = ctx.attempt();
      now.info.idempotency_key = ctx.idempotency_key();
      now.info.worker = ctx.worker();
      now.info.deadline = ctx.deadline();
      now.at = std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
      seen->with([&](std::vector<Seen>& all) { all.push_back(std::move(now)); });
      if (ctx.attempt() == 1 && value == 1) throw Failed("once", "on purpose");
      return value;
    });
  }

  /// Three attempts: two of the first call, one of the second.
  std::vector<Seen> seen_by_three() { return seen_by(guide, "1", 3); }
  /// What the attempts of a run with this input saw, one after the other.
  std::vector<Seen> seen_by(const Orchestration<int(int)>& orchestration,
                            const std::string& input,
                            std::size_t attempts) {
    run();
    start(orchestration, "tour", input);
    EXPECT_EQ(end_of("tour").status, ExecutionStatus::kCompleted);
    auto all = seen_->with([](const std::vector<Seen>& each) { return each; });
    EXPECT_EQ(all.size(), attempts);
    all.resize(attempts);
    return all;
  }
  /// The deadline is `limit` after a moment that was shortly before it was seen.
  static void expect_deadline(const Seen& seen, Duration limit) {
    ASSERT_TRUE(seen.info.deadline.has_value());
    EXPECT_LE(*seen.info.deadline, seen.at + limit);
    EXPECT_GT(*seen.info.deadline, seen.at + limit - kHanging);
  }

  HistoryEvent event(std::int64_t id) {
    HistoryQuery query;
    const InstanceInfo instance = real_->get_instance("tour").value();
    query.instance = instance.key;
    query.execution = instance.current.execution;
    const auto pages = real_->read_history({query});
    for (const HistoryEvent& each : (*pages)[0]->events) {
      if (each.id.value == id) return each;
    }
    ADD_FAILURE() << "no event " << id;
    return {};
  }

  const std::shared_ptr<Guarded<std::vector<Seen>>> seen_ =
      std::make_shared<Guarded<std::vector<Seen>>>();
};

TEST_F(AuthorView, TellsWhichCallOfWhichRunItIs) {
  const std::vector<Seen> all = seen_by_three();
  for (const Seen& each : all) {
    EXPECT_EQ(each.info.instance_id, "tour");
    EXPECT_EQ(each.info.execution, 2);
    EXPECT_EQ(each.info.orchestration, "guide");
    EXPECT_EQ(each.info.orchestration_version, "2.1");
    EXPECT_EQ(each.info.activity, "look");
    const HistoryEvent scheduled = event(each.info.event_id);
    EXPECT_EQ(scheduled.kind, EventKind::kActivityScheduled);
  }
  EXPECT_EQ(all[0].info.event_id, all[1].info.event_id);
  EXPECT_NE(all[0].info.event_id, all[2].info.event_id);
}

TEST_F(AuthorView, CountsAttemptsOfACall) {
  const std::vector<Seen> all = seen_by_three();
  EXPECT_EQ(all[0].info.attempt, 1);
  EXPECT_EQ(all[1].info.attempt, 2);
  EXPECT_EQ(all[2].info.attempt, 1);
}

TEST_F(AuthorView, GivesAllAttemptsOfACallOneKey) {
  const std::vector<Seen> all = seen_by_three();
  EXPECT_EQ(all[0].info.idempotency_key, all[1].info.idempotency_key);
  EXPECT_NE(all[0].info.idempotency_key, all[2].info.idempotency_key);
}

TEST_F(AuthorView, TellsUntilWhenAnAttemptHasTime) {
  const std::vector<Seen> all = seen_by_three();
  // Its start_to_close ends before the timeout of the call does.
  expect_deadline(all[0], 10min);
  EXPECT_FALSE(all[2].info.deadline.has_value());
}

TEST_F(AuthorView, TellsTheEarlierOfBothLimits) {
  const std::vector<Seen> all = seen_by(both_limits, "7", 2);
  expect_deadline(all[0], 1h);
  expect_deadline(all[1], 2h);
}

TEST_F(AuthorView, TellsTheTimeoutOfTheCallWhenItIsAlone) {
  const std::vector<Seen> all = seen_by(one_limit, "1", 2);
  expect_deadline(all[0], 3h);
  EXPECT_EQ(all[1].info.attempt, 2);
  EXPECT_EQ(all[1].info.deadline, all[0].info.deadline) << "of the call, not of the attempt";
}

TEST_F(AuthorView, NamesTheProcess) {
  const std::vector<Seen> all = seen_by_three();
  const std::string own = ":" + std::to_string(getpid()) + "#";
  EXPECT_NE(all[0].info.worker.find(own), std::string::npos) << all[0].info.worker;
}

}  // namespace

}  // namespace perdure::test::author_view_test
