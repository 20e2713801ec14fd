#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

/// Queries: they read what is there, and leave no trace.
namespace perdure::test::queries_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Progress {
  std::string stage = "new";
  int steps = 0;
  OrchestrationContext* ctx = nullptr;
};

inline constexpr Orchestration<int(int)> self{"demo"};
inline constexpr Query<std::string()> stage{"stage"};
inline constexpr Query<int(int)> steps_above{"steps_above"};
inline constexpr Query<std::string(int)> print{"print"};
inline constexpr Query<int(int)> act{"act"};
inline constexpr Signal<int> skip{"skip"};

Task<void> nothing() {
  co_return;
}

/// A query must not do any of these.
int try_to_act(OrchestrationContext& ctx, int what) {
  switch (what) {
    case 0:
      ctx.call(ping).detach();
      break;
    case 1:
      ctx.timer(1h).detach();
      break;
    case 2:
      ctx.wait_for(number).detach();
      break;
    case 3:
      ctx.call(helper, 1).detach();
      break;
    case 4:
      ctx.start_detached(helper, "other", 1);
      break;
    case 5:
      ctx.spawn(nothing()).detach();
      break;
    case 6:
      ctx.shield(nothing()).detach();
      break;
    case 7:
      return static_cast<int>(ctx.uuid().size());
    case 8:
      return ctx.side_effect([] { return 1; });
    case 9:
      ctx.set_status(1);
      break;
    case 10:
      return ctx.patched("new") ? 1 : 0;
    case 11:
      ctx.until([] { return true; }).detach();
      break;
    case 12:
      ctx.random();
      break;
    default:
      break;
  }
  return what;
}
constexpr int kActs = 13;

Task<int> run_steps(OrchestrationContext& ctx, int last, Progress& progress) {
  progress.ctx = &ctx;
  for (int i = 0; i < last; ++i) {
    progress.stage = "step " + std::to_string(i);
    co_await ctx.call(twice, i);
    ++progress.steps;
  }
  progress.stage = "done";
  if (last == 1) throw Failed("too_short", "one step");
  co_return progress.steps;
}

Registry steps() {
  Registry registry;
  registry.add(self, run_steps)
      .query(stage, [](const Progress& progress) { return progress.stage; })
      .query(steps_above,
             [](const Progress& progress, int than) {
               if (than < 0) throw Failed("negative", "not below zero");
               return progress.steps - than;
             })
      .query(print,
             [](const Progress&, int size) {
               return std::string(static_cast<std::size_t>(size), 'x');
             })
      .query(act,
             [](const Progress& progress, int what) { return try_to_act(*progress.ctx, what); })
      .signal(skip, [](Progress& progress, int by) { progress.steps += by; });
  return registry;
}

TEST(Queries, SeeTheStateAfterTheTurnAndAppendNothing) {
  both_ways(steps(), "2", [](ScriptedRun& run) {
    run.query("stage");
    EXPECT_THAT(run.replies(), ElementsAre("answered q: \"step 0\"")) << "also of the first turn";
    EXPECT_EQ(run.last().replies[0].kind, RequestKind::kQuery);
    const std::size_t before = run.history().size();
    run.query("stage");
    EXPECT_TRUE(run.last().events.empty());
    EXPECT_EQ(run.history().size(), before);
    run.turn({run.query_message("steps_above", "0", "a"),
              run.completed(run.open_call("twice"), "0"),
              run.query_message("stage", "null", "b"),
              run.signal_message("skip", "10")});
    EXPECT_THAT(run.replies(), ElementsAre("answered a: 11", "answered b: \"step 1\""));
    EXPECT_EQ(run.status(), ExecutionStatus::kRunning);
  });
}

TEST(Queries, AreAnsweredInTheTurnThatEndsTheRun) {
  both_ways(steps(), "2", [](ScriptedRun& run) {
    run.start();
    run.complete("twice", "0");
    run.turn({run.query_message("stage"), run.completed(run.open_call("twice"), "0")});
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
    EXPECT_THAT(run.replies(), ElementsAre("answered q: \"done\""));
  });
}

TEST(Queries, AreAnsweredInTheTurnThatCancelsTheRun) {
  both_ways(steps(), "2", [](ScriptedRun& run) {
    run.start();
    run.turn({run.query_message("stage"), run.cancel_message()});
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
    EXPECT_THAT(run.replies(), ElementsAre("answered q: \"step 0\""));
  });
}

/// Nothing of an ended execution may be decided again.
void expect_replies_alone(const replay::TurnDecisions& decisions) {
  EXPECT_TRUE(decisions.events.empty());
  EXPECT_EQ(decisions.output, "");
  EXPECT_EQ(decisions.failure, Failure{});
  EXPECT_FALSE(decisions.custom_status);
  EXPECT_TRUE(decisions.work.empty());
  EXPECT_TRUE(decisions.timers.empty());
  EXPECT_TRUE(decisions.children.empty());
  EXPECT_TRUE(decisions.canceled_work.empty());
  EXPECT_TRUE(decisions.kept_messages.empty());
  EXPECT_FALSE(decisions.drain_at);
  EXPECT_FALSE(decisions.next);
}

TEST(Queries, AreAnsweredOfAnEndedExecutionByAReplay) {
  struct Row {
    const char* how;
    const char* input;
    const char* stage;
  };
  for (const Row& row : {Row{"completed", "2", "\"done\""},
                         Row{"failed", "1", "\"done\""},
                         Row{"canceled", "3", "\"step 2\""},
                         Row{"terminated", "3", "\"step 2\""}}) {
    SCOPED_TRACE(row.how);
    both_ways(steps(), row.input, [&](ScriptedRun& run) {
      run.start();
      while (!run.work().empty() && run.history().back().payload != "2") run.complete("twice", "0");
      if (row.how == std::string("canceled")) run.cancel();
      if (row.how == std::string("terminated")) run.write_end(EventKind::kTerminated, "stop");
      const std::size_t before = run.history().size();
      run.turn({run.query_message("stage", "null", "a"), run.query_message("unknown", "1", "b")});
      EXPECT_THAT(
          run.replies(),
          ElementsAre("answered a: " + std::string(row.stage), "refused b: unknown_handler"));
      expect_replies_alone(run.last());
      EXPECT_EQ(run.history().size(), before);
      run.query("stage");
      EXPECT_THAT(run.replies(), ElementsAre("answered q: " + std::string(row.stage)));
    });
  }
}

TEST(Queries, OfARunThatEndedBeforeItsFirstTurnAreRefused) {
  for (const EventKind end : {EventKind::kTerminated, EventKind::kCanceled}) {
    ScriptedRun run(steps(), "demo", "2");
    run.write_end(end, "stop");
    run.query("stage");
    EXPECT_THAT(run.replies(), ElementsAre("refused q: run_ended"));
    expect_replies_alone(run.last());
  }
}

TEST(Queries, AnUnknownOneIsRefusedAndToldWhichThereAre) {
  both_ways(steps(), "2", [](ScriptedRun& run) {
    run.start();
    run.query("age");
    EXPECT_THAT(run.replies(), ElementsAre("refused q: unknown_handler"));
    EXPECT_EQ(run.last().replies[0].failure.message,
              "the run has no query 'age'; it has 'act', 'print', 'stage', 'steps_above'");
  });
}

TEST(Queries, AHandlerThatFailsTellsItsCallerAndHurtsNobody) {
  both_ways(steps(), "2", [](ScriptedRun& run) {
    run.start();
    run.turn({run.query_message("steps_above", "-1", "a"),
              run.query_message("steps_above", "\"text\"", "b"),
              run.query_message("steps_above", "0", "c")});
    EXPECT_THAT(run.replies(),
                ElementsAre("failed a: negative", "refused b: bad_input", "answered c: 0"));
    EXPECT_EQ(run.last().replies[0].failure.message, "not below zero");
    EXPECT_THAT(run.last().replies[1].failure.message,
                HasSubstr("the input of query 'steps_above'"));
    EXPECT_TRUE(run.last().events.empty());
    EXPECT_THAT(run.log(), IsEmpty());
    run.complete("twice", "0");
    run.complete("twice", "0");
    EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  });
}

TEST(Queries, AResultThatIsTooLargeIsAFailureOfTheQuery) {
  both_ways(steps(), "2", [](ScriptedRun& run) {
    run.set_max_payload(50);
    run.start();
    run.query("print", "48");
    EXPECT_EQ(run.last().replies.at(0).stage, RequestStage::kAnswered);
    run.query("print", "49");
    EXPECT_THAT(run.replies(), ElementsAre("failed q: invalid_argument"));
    EXPECT_THAT(run.last().replies[0].failure.message,
                HasSubstr("the result of query 'print': 51 bytes of JSON, the limit is 50"));
    EXPECT_TRUE(run.last().replies[0].payload.empty());
  });
}

TEST(Queries, MakeNoCommands) {
  both_ways(steps(), "2", [](ScriptedRun& run) {
    run.start();
    for (int what = 0; what < kActs; ++what) {
      SCOPED_TRACE(what);
      run.query("act", std::to_string(what));
      ASSERT_THAT(run.replies(), ElementsAre("failed q: invalid_argument"));
      EXPECT_EQ(run.last().replies[0].failure.message,
                "a query reads the state and makes no commands");
      EXPECT_TRUE(run.last().events.empty());
      EXPECT_TRUE(run.last().work.empty());
    }
    run.complete("twice", "0");
    run.complete("twice", "0");
    EXPECT_EQ(run.output(), "2") << "nothing of all that counts";
  });
}

TEST(Queries, MakeNoCommandsOnARunThatHasEnded) {
  both_ways(steps(), "2", [](ScriptedRun& run) {
    run.start();
    run.complete("twice", "0");
    run.complete("twice", "0");
    for (int what = 0; what < kActs; ++what) {
      SCOPED_TRACE(what);
      run.query("act", std::to_string(what));
      EXPECT_THAT(run.replies(), ElementsAre("failed q: invalid_argument"));
      EXPECT_TRUE(run.last().events.empty());
      EXPECT_TRUE(run.last().work.empty());
    }
  });
}

TEST(Queries, MakeNoCommandsOnARunThatIsCanceled) {
  struct Parts {
    static Task<void> clean(OrchestrationContext& ctx) { co_await ctx.call(ping); }
  };
  Registry registry;
  registry
      .add(self,
           [](OrchestrationContext& ctx, int, Progress& progress) -> Task<int> {
             progress.ctx = &ctx;
             auto cleaning = ctx.shield(Parts::clean(ctx));
             co_await cleaning;
             co_return 1;
           })
      .query(act,
             [](const Progress& progress, int what) { return try_to_act(*progress.ctx, what); });
  both_ways(registry, "0", [](ScriptedRun& run) {
    run.start();
    run.cancel();
    EXPECT_EQ(run.status(), ExecutionStatus::kCanceling);
    for (int what = 0; what < kActs; ++what) {
      SCOPED_TRACE(what);
      run.query("act", std::to_string(what));
      EXPECT_THAT(run.replies(), ElementsAre("failed q: invalid_argument"));
    }
  });
}

TEST(Queries, MayReadWhatTheRunIs) {
  Registry registry;
  registry.add(self, run_steps).query(stage, [](const Progress& progress) {
    const OrchestrationContext& ctx = *progress.ctx;
    return ctx.instance_id() + " " + ctx.name() + " " + std::to_string(ctx.execution());
  });
  both_ways(registry, "2", [](ScriptedRun& run) {
    run.start();
    run.query("stage");
    EXPECT_THAT(run.replies(), ElementsAre("answered q: \"run-1 demo 1\""));
  });
}

TEST(Queries, AnExecutionWithoutCodeRefusesThem) {
  ScriptedRun run(steps(), "demo", "2");
  run.start();
  run.lose_code();
  run.turn({run.cancel_message(), run.query_message("stage")});
  EXPECT_EQ(run.status(), ExecutionStatus::kCanceled);
  EXPECT_THAT(run.replies(), ElementsAre("refused q: run_ended"));
}

}  // namespace
}  // namespace perdure::test::queries_test
