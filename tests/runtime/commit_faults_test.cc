#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/log.h"
#include "runtime/histories.h"
#include "testing/test_engine.h"
#include "tests/engine/kitchen_sink.h"

namespace perdure::test::commit_faults_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::CommitFault;
using perdure::testing::FaultyCall;
using perdure::testing::FaultyProvider;
using perdure::testing::detail::TestEngine;

inline constexpr Activity<int(int)> fetch{"fetch"};
inline constexpr Activity<int(int)> pay{"pay"};
inline constexpr Activity<void(int)> refund{"refund"};
inline constexpr Activity<void()> ping{"ping"};
inline constexpr Activity<int(int)> clean_up{"s_clean_up"};
inline constexpr Orchestration<int(int)> helper{"helper"};

Task<int> run_helper(OrchestrationContext& ctx, int value) {
  const int fetched = co_await ctx.call(fetch, value);
  co_return fetched + 1;
}

Registry kitchen() {
  Registry registry;
  add_kitchen_sink(registry);
  registry.add(helper, run_helper);
  registry.add(fetch, [](int value) { return value * 10; });
  registry.add(pay, [](int value) { return value * 100; });
  registry.add(refund, [](int) {});
  registry.add(ping, [] {});
  registry.add(clean_up, [](int value) { return value; });
  return registry;
}

struct Played {
  ExecutionStatus status = ExecutionStatus::kRunning;
  std::string output;
  std::vector<std::string> history;
  std::uint64_t commits = 0;
  runtime::FrameCounts frames;
  bool disturbed = true;
};

/// Texts that a turn makes anew when it is computed again, by the name that stands for them.
using Made = std::map<std::string, std::string>;

std::string with_names(std::string text, const Made& made) {
  for (const auto& [value, name] : made) {
    for (auto at = text.find(value); at != std::string::npos; at = text.find(value)) {
      text.replace(at, value.size(), name);
    }
  }
  return text;
}

/// Ids and random numbers that were recorded, which nobody can tell before a turn is in the store.
Made made_in(const std::vector<HistoryEvent>& history) {
  Made made;
  for (const HistoryEvent& event : history) {
    if (event.kind != EventKind::kSideEffectRecorded || event.name == "side_effect") continue;
    std::string value = event.payload;
    std::erase(value, '"');
    made.emplace(value, "<" + event.name + " of event " + std::to_string(event.id.value) + ">");
  }
  return made;
}

/// All but times, and the custom status, which is the length of a text with a random number.
std::string line_of(const HistoryEvent& event, const Made& made) {
  const bool measured = event.kind == EventKind::kCustomStatusSet;
  return std::to_string(event.id.value) + " " + std::string(to_string(event.kind)) + " of " +
         std::to_string(event.source.value) + " '" + event.name + "' " +
         (measured ? "" : with_names(event.payload, made)) + " " + with_names(event.text, made) +
         " " + event.failure.type;
}

void start(TestEngine& engine) {
  StartOrchestration begin;
  begin.id = "ks";
  begin.name = std::string(kitchen_sink.name());
  begin.input = "0";
  ASSERT_TRUE(engine.provider().start_orchestration(std::move(begin)).ok());
  // Far enough apart that what a fault delays never overtakes what comes next.
  Duration when = 2h;
  for (const char* name : {"door", "phone", "door"}) {
    RaiseEvent raise;
    raise.id = "ks";
    raise.name = name;
    raise.payload = std::to_string(when / 1h);
    raise.delay = when;
    ASSERT_TRUE(engine.provider().raise_event(std::move(raise)).ok());
    when += 1h;
  }
}

/// A fetch that fails is told to whoever runs the steps, who goes on after a pause: here one in
/// which locks end that an answer which got lost has left behind.
void live(TestEngine& engine, Duration time) {
  const TimePoint target = engine.clock().now() + time;
  for (int troubles = 0; troubles < 10; ++troubles) {
    try {
      const Duration left = target - engine.clock().now();
      return engine.advance(std::max(left, Duration::zero()));
    } catch (const Unavailable&) {
      engine.clock().advance(30s);
    }
  }
  FAIL() << "the fault does not end";
}

/// The kitchen sink with frames kept, every cached turn checked by a replay, over a store that is
/// disturbed as `plan` says.
Played play(const std::function<void(FaultyProvider&)>& plan = nullptr) {
  perdure::testing::TestOptions options;
  options.replay_check_fraction = 1.0;
  TestEngine engine(kitchen(), options);
  engine.frames().set_limits({});
  start(engine);
  if (plan) plan(engine.faults());
  // Every fault is told in the log: thousands of lines that say nothing new here.
  log::set_sink([](log::Level, std::string_view) {});
  live(engine, 8h);
  log::set_sink(nullptr);
  Played played;
  const InstanceInfo run = engine.provider().get_instance("ks").value();
  auto histories = runtime::read_histories(
      engine.provider(), {{run.key, run.current.execution, run.current.last_event}}, 10'000);
  const std::vector<HistoryEvent> history = std::move(histories.at(0)).value();
  const Made made = made_in(history);
  for (const HistoryEvent& event : history) played.history.push_back(line_of(event, made));
  played.status = run.current.status;
  played.output = with_names(run.current.output, made);
  played.commits = engine.faults().commits_made();
  played.frames = engine.frames().counts();
  for (const auto call : {FaultyCall::kOutcomes, FaultyCall::kFetchTurns, FaultyCall::kFetchWork}) {
    played.disturbed = played.disturbed && engine.faults().was_disturbed(call);
  }
  return played;
}

const Played& whole() {
  static const Played played = play();
  return played;
}

/// Same result, same commands; and no frame has survived a commit that did not happen: those that
/// came back are as many as the commits that were answered with success, none had a state that
/// the store did not have, and a replay of the store found each of them to be right.
void expect_unharmed(const Played& played) {
  EXPECT_EQ(played.status, ExecutionStatus::kCompleted);
  EXPECT_EQ(played.output, whole().output);
  EXPECT_EQ(played.history, whole().history);
  EXPECT_EQ(played.frames.kept, played.commits);
  EXPECT_EQ(played.frames.evicted_stale, 0U);
  EXPECT_GE(played.frames.checks + 1, played.frames.hits) << "all but the one disturbed";
  EXPECT_EQ(played.frames.checks_unread, 0U);
  EXPECT_EQ(played.frames.checks_differed, 0U);
  EXPECT_EQ(played.frames.frames, 0U) << "all have ended";
}

TEST(KeptFrames, OfTheKitchenSinkServeEveryTurnButTheFirst) {
  const Played& played = whole();
  expect_unharmed(played);
  EXPECT_GE(played.commits, 30U);
  EXPECT_EQ(played.frames.misses, 5U) << "the first turn of each run: the sink, four helpers";
  RecordProperty("commits", static_cast<int>(played.commits));
}

class CommitFaults : public ::testing::TestWithParam<CommitFault> {};

TEST_P(CommitFaults, OfEveryTurnChangeNothing) {
  const auto commits = static_cast<int>(whole().commits);
  for (int turn = 0; turn < commits; ++turn) {
    SCOPED_TRACE("commit " + std::to_string(turn));
    const Played played = play([&](FaultyProvider& store) { store.fail_commit(turn, GetParam()); });
    expect_unharmed(played);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         CommitFaults,
                         ::testing::Values(CommitFault::kRefused,
                                           CommitFault::kUnavailable,
                                           CommitFault::kLockLost,
                                           CommitFault::kUnknown,
                                           CommitFault::kAnswerLost));

class OutcomeFaults : public ::testing::TestWithParam<CommitFault> {};

TEST_P(OutcomeFaults, ChangeNothing) {
  int disturbed = 0;
  for (bool more = true; more; ++disturbed) {
    SCOPED_TRACE("outcomes " + std::to_string(disturbed));
    const Played played = play([&](FaultyProvider& store) {
      store.fail_call(FaultyCall::kOutcomes, disturbed, GetParam());
    });
    expect_unharmed(played);
    if (HasFailure()) return;
    more = played.disturbed;
  }
  EXPECT_GT(disturbed, 10);
}

INSTANTIATE_TEST_SUITE_P(All,
                         OutcomeFaults,
                         ::testing::Values(CommitFault::kUnavailable,
                                           CommitFault::kLockLost,
                                           CommitFault::kUnknown,
                                           CommitFault::kAnswerLost));

class FetchFaults : public ::testing::TestWithParam<CommitFault> {};

TEST_P(FetchFaults, ChangeNothing) {
  // Most fetches find nothing; of those every few will do.
  const int stride = GetParam() == CommitFault::kAnswerLost ? 1 : 7;
  for (const FaultyCall call : {FaultyCall::kFetchTurns, FaultyCall::kFetchWork}) {
    int disturbed = 0;
    for (bool more = true; more; disturbed += stride) {
      SCOPED_TRACE("fetch " + std::to_string(disturbed));
      const Played played =
          play([&](FaultyProvider& store) { store.fail_call(call, disturbed, GetParam()); });
      expect_unharmed(played);
      if (HasFailure()) return;
      more = played.disturbed;
    }
    EXPECT_GT(disturbed, 10);
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         FetchFaults,
                         ::testing::Values(CommitFault::kUnavailable,
                                           CommitFault::kUnknown,
                                           CommitFault::kAnswerLost));

}  // namespace

}  // namespace perdure::test::commit_faults_test
