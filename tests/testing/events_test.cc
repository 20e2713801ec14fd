#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/testing.h>

namespace perdure::test::events_test {

namespace {

using namespace std::chrono_literals;
using perdure::testing::TestOptions;
using perdure::testing::TestRuntime;

inline constexpr Orchestration<std::vector<int>(int)> collector{"collector"};
inline constexpr Orchestration<int(std::vector<int>)> rounds{"rounds"};
inline constexpr Orchestration<double(double)> half{"half"};
inline constexpr Orchestration<std::string(std::string)> echo{"echo"};
inline constexpr Activity<std::string(std::string)> repeat{"repeat"};
inline constexpr perdure::Event<int> note{"note"};
inline constexpr perdure::Event<std::string> word{"word"};
inline constexpr perdure::Event<int> other{"other"};
inline constexpr Orchestration<std::int64_t()> bells{"bells"};
inline constexpr perdure::Event<void> bell{"bell"};

/// Sleeps first, so that events come before the waits.
Task<std::vector<int>> run_collector(OrchestrationContext& ctx, int count) {
  co_await ctx.timer(1h);
  std::vector<int> notes;
  for (int i = 0; i < count; ++i) notes.push_back(co_await ctx.wait_for(note));
  co_return notes;
}

/// One note for each execution; adds them up after three.
Task<int> run_rounds(OrchestrationContext& ctx, std::vector<int> notes) {
  notes.push_back(co_await ctx.wait_for(note));
  if (notes.size() < 3) co_await ctx.continue_as_new(rounds, notes);
  co_return 100 * notes[0] + 10 * notes[1] + notes[2];
}

/// One ring for each execution; tells the number of the third.
Task<std::int64_t> run_bells(OrchestrationContext& ctx) {
  co_await ctx.wait_for(bell);
  if (ctx.execution() < 3) co_await ctx.continue_as_new(bells);
  co_return ctx.execution();
}

Task<double> run_half(OrchestrationContext&, double value) {
  co_return value / 2;
}

Task<std::string> run_echo(OrchestrationContext& ctx, std::string text) {
  co_return co_await ctx.call(repeat, text);
}

Registry listeners() {
  Registry registry;
  registry.add(collector, run_collector);
  registry.add(rounds, run_rounds);
  registry.add(bells, run_bells);
  registry.add(half, run_half);
  registry.add(echo, run_echo);
  registry.add(repeat, [](std::string text) { return text; });
  return registry;
}

TEST(Events, WaitInTheOrderTheyCameInBeforeAnybodyWaits) {
  TestRuntime runtime(listeners());
  auto run = runtime.start(collector, "r", 3);
  runtime.raise_event("r", note, 1);
  runtime.run_until_idle();
  runtime.raise_event("r", note, 2);
  runtime.raise_event("r", other, 9);
  runtime.advance(1h);
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  runtime.raise_event("r", note, 3);
  EXPECT_EQ(run.result(), (std::vector<int>{1, 2, 3}));
}

TEST(Events, AreCarriedOverWhenTheRunContinuesAsNew) {
  TestRuntime runtime(listeners());
  auto run = runtime.start(rounds, "r", {});
  for (const int n : {1, 2, 3}) runtime.raise_event("r", note, n);
  EXPECT_EQ(run.result(), 123);
  EXPECT_EQ(run.status().execution, 3);
  EXPECT_EQ(runtime.history("r", 1).back().kind, "continued_as_new");
  EXPECT_EQ(runtime.history("r").front().payload, "[1,2]");
}

TEST(Events, ComeWithADelayWhenAsked) {
  TestRuntime runtime(listeners());
  auto run = runtime.start(rounds, "r", {4, 5});
  runtime.raise_event("r", note, 6, 1h);
  runtime.run_until_idle();
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning);
  runtime.advance(1h);
  EXPECT_EQ(run.result(), 456);
}

TEST(Events, WithoutAPayloadAreTakenByTheirWaits) {
  TestRuntime runtime(listeners());
  EXPECT_EQ(runtime.raise_event("r", bell), EventDelivered::kNotFound);
  auto run = runtime.start(bells, "r");
  EXPECT_EQ(runtime.raise_event("r", bell), EventDelivered::kDelivered);
  runtime.raise_event("r", bell, 1h);
  runtime.run_until_idle();
  EXPECT_EQ(run.status().execution, 2);
  runtime.advance(1h);
  EXPECT_EQ(run.status().execution, 3);
  EXPECT_EQ(run.status().status, ExecutionStatus::kRunning) << "no third ring";
}

TEST(Events, WithoutAPayloadAreCarriedOverWhenARunWithoutInputContinuesAsNew) {
  TestRuntime runtime(listeners());
  auto run = runtime.start(bells, "r");
  for (int i = 0; i < 3; ++i) runtime.raise_event("r", bell);
  EXPECT_EQ(run.result(), 3);
  EXPECT_EQ(runtime.history("r", 2).back().kind, "continued_as_new");
  EXPECT_EQ(runtime.history("r", 3).front().payload, "null");
}

TEST(Events, SayWhatBecameOfThem) {
  TestRuntime runtime(listeners());
  EXPECT_EQ(runtime.raise_event("r", note, 1), EventDelivered::kNotFound);
  auto run = runtime.start(half, "r", 3.0);
  EXPECT_EQ(runtime.raise_event("r", note, 1), EventDelivered::kDelivered);
  EXPECT_EQ(run.result(), 1.5);
  EXPECT_EQ(runtime.raise_event("r", note, 1), EventDelivered::kEnded);
}

// --- bad input: refused at the call, by the name of the field, and nothing is stored

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

void expect_empty(const TestRuntime& runtime) {
  EXPECT_EQ(runtime.queued().runs_ready, 0);
  EXPECT_EQ(runtime.queued().runs_later, 0);
}

TEST(BadInput, OfAnIdIsRefusedAtTheStart) {
  TestRuntime runtime(listeners());
  const auto start = [&](const std::string& id) {
    return refusal([&] { runtime.start(half, id, 1.0); });
  };
  EXPECT_NE(start("").find("id"), std::string::npos) << start("");
  EXPECT_NE(start(std::string(256, 'x')).find("255"), std::string::npos);
  EXPECT_NE(start("a\xFF").find("UTF-8"), std::string::npos);
  EXPECT_NE(start(std::string("a\0b", 3)).find("NUL"), std::string::npos);
  expect_empty(runtime);
  EXPECT_EQ(start(std::string(255, 'x')), "(accepted)");
}

TEST(BadInput, OfAPayloadIsRefusedAtTheStart) {
  TestRuntime runtime(listeners());
  const std::string nan =
      refusal([&] { runtime.start(half, "r", std::numeric_limits<double>::quiet_NaN()); });
  EXPECT_NE(nan.find("the input of 'half'"), std::string::npos) << nan;
  EXPECT_NE(nan.find("NaN"), std::string::npos) << nan;
  const auto start = [&](const std::string& text) {
    return refusal([&] { runtime.start(echo, "r", text); });
  };
  EXPECT_NE(start("\xC3").find("UTF-8"), std::string::npos);
  EXPECT_NE(start(std::string("a\0b", 3)).find("NUL"), std::string::npos);
  EXPECT_NE(start(std::string(std::size_t{2} << 20U, 'x')).find("2097152"), std::string::npos);
  EXPECT_EQ(refusal([&] { runtime.start(collector, "r", 5'000'000'000); }),
            "the input of 'collector': 5000000000 does not fit its type");
  expect_empty(runtime);
  EXPECT_THROW(runtime.status("r"), NotFound);
}

TEST(BadInput, OfAnEventIsRefusedAtTheCall) {
  TestRuntime runtime(listeners());
  auto run = runtime.start(rounds, "r", {1, 2});
  const std::string text = refusal([&] { runtime.raise_event("r", word, "\xFF"); });
  EXPECT_NE(text.find("the payload of event 'word'"), std::string::npos) << text;
  EXPECT_NE(refusal([&] { runtime.raise_event("", note, 3); }).find("id"), std::string::npos);
  EXPECT_EQ(refusal([&] { runtime.raise_event("r", note, 5'000'000'000); }),
            "the payload of event 'note': 5000000000 does not fit its type");
  runtime.run_until_idle();
  EXPECT_EQ(runtime.history("r").size(), 2U) << "started and subscribed";
}

TEST(BadInput, OfAReasonIsRefusedAtTheCall) {
  TestRuntime runtime(listeners());
  auto run = runtime.start(rounds, "r", {1, 2});
  const std::string long_one(std::size_t{3} << 20U, 'x');
  for (const std::string& reason : {std::string("a\0b", 3), long_one, std::string("\xFF")}) {
    EXPECT_NE(refusal([&] { runtime.cancel("r", reason); }).find("reason"), std::string::npos);
    EXPECT_NE(refusal([&] { runtime.terminate("r", reason); }).find("reason"), std::string::npos);
  }
  EXPECT_FALSE(run.status().cancel_requested_at);
}

TEST(BadInput, OfAnActivityThatGivesTooMuchFailsTheCall) {
  TestOptions options;
  options.max_payload_bytes = 100;
  TestRuntime runtime(listeners(), options);
  runtime.fake(repeat, [](std::string) { return std::string(200, 'x'); });
  auto run = runtime.start(echo, "r", "small");
  EXPECT_EQ(run.outcome().failure().type, "invalid_argument");
  EXPECT_NE(run.outcome().failure().message.find("the result of 'repeat'"), std::string::npos);
}

TEST(BadInput, OfAnIdThatIsTakenIsAConflict) {
  TestRuntime runtime(listeners());
  auto run = runtime.start(rounds, "r", {});
  EXPECT_THROW(runtime.start(rounds, "r", {}), Conflict);
  EXPECT_EQ(runtime.start(rounds, "r", {}, {.on_conflict = OnConflict::kUseExisting}).id(), "r");
}

}  // namespace

}  // namespace perdure::test::events_test
