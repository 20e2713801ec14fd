#include <array>
#include <optional>

#include <gtest/gtest.h>

#include <perdure/detail/run_bytes.h>

#include "tests/runtime/frame_sample.h"

namespace perdure::test::frame_bytes_test {

namespace {

constexpr std::size_t kBlock = 100'000;

inline constexpr Activity<std::string(int)> fetch{"fetch"};
inline constexpr Activity<void(std::string)> unfetch{"unfetch"};
inline constexpr perdure::Event<std::string> door{"door"};
inline constexpr Orchestration<void()> sample{"sample"};

template <class Main>
Registry only(Main main) {
  Registry registry;
  registry.add(sample, main);
  return registry;
}

std::string block() {
  return '"' + std::string(kBlock, 'x') + '"';
}

Task<void> small(OrchestrationContext& ctx) {
  co_await ctx.call(fetch, 1);
}

/// Only a frame can hold the block while the call is awaited.
Task<void> wide_part(OrchestrationContext& ctx) {
  std::array<char, kBlock> room{};
  room[0] = 'a';
  co_await ctx.call(fetch, 1);
  room[1] = room[0];
}

Task<void> wide(OrchestrationContext& ctx) {
  co_await wide_part(ctx);
  co_await ctx.call(fetch, 2);
}

TEST(FrameBytes, CountTheFramesOfCoroutinesWhileTheyLive) {
  FrameSample lean(only(small));
  FrameSample fat(only(wide));
  EXPECT_GE(fat.bytes(), lean.bytes() + kBlock);
  EXPECT_LT(fat.bytes(), lean.bytes() + 2 * kBlock);
  fat.complete(2, "\"a\"");
  EXPECT_LT(fat.bytes(), lean.bytes() + kBlock / 10) << "the part has ended";
}

TEST(FrameBytes, AreTheSameAfterAReplay) {
  FrameSample fat(only(wide));
  const auto again = fat.replayed();
  EXPECT_EQ(again->bytes(), fat.bytes());
}

TEST(FrameBytes, AreAllGivenBackInTheEnd) {
  const std::int64_t before = detail::run_bytes;
  {
    FrameSample fat(only(wide));
    EXPECT_GT(detail::run_bytes, before + static_cast<std::int64_t>(kBlock));
  }
  EXPECT_EQ(detail::run_bytes, before);
}

Task<void> gather(OrchestrationContext& ctx) {
  {
    auto first = ctx.call(fetch, 1);
    auto second = ctx.call(fetch, 2);
    co_await second;
  }
  co_await ctx.wait_for(door);
}

TEST(FrameBytes, CountOutcomesThatFuturesHold) {
  FrameSample run(only(gather));
  const std::size_t before = run.bytes();
  run.complete(2, block());
  EXPECT_GE(run.bytes(), before + kBlock * 9 / 10) << "nobody has looked at it yet";
  run.complete(3, "\"\"");
  EXPECT_LT(run.bytes(), before + kBlock / 10) << "the futures are gone";
}

TEST(FrameBytes, CountEventsThatWereNotRead) {
  FrameSample run(only(small));
  const std::size_t before = run.bytes();
  run.turn({FrameSample::raised("door", block())});
  EXPECT_GE(run.bytes(), before + kBlock);
}

Task<void> read_doors(OrchestrationContext& ctx) {
  for (;;) co_await ctx.wait_for(door);
}

TEST(FrameBytes, DoNotGrowWithWhatIsOver) {
  FrameSample run(only(read_doors));
  std::optional<std::size_t> half;
  for (int i = 0; i < 1'000; ++i) {
    run.turn({FrameSample::raised("door", "\"a\"")});
    if (i == 99) half = run.bytes();
  }
  EXPECT_LE(run.bytes(), *half + 20'000) << "events that were read are forgotten";
}

Task<void> owing(OrchestrationContext& ctx) {
  co_await ctx.call(fetch, 1).undo_with(unfetch);
  co_await ctx.wait_for(door);
}

TEST(FrameBytes, CountWhatUndosWillNeed) {
  FrameSample run(only(owing));
  const std::size_t before = run.bytes();
  run.complete(2, block());
  EXPECT_GE(run.bytes(), before + kBlock);
}

}  // namespace

}  // namespace perdure::test::frame_bytes_test
