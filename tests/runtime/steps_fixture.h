#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/perdure.h>

#include "base/log.h"
#include "provider/sqlite/options.h"
#include "provider/token_mint.h"
#include "runtime/activity_worker.h"
#include "runtime/frame_cache.h"
#include "runtime/orchestration_dispatcher.h"
#include "tests/runtime/tampered_provider.h"

namespace perdure::test {

inline constexpr Activity<int(int)> add_one{"add_one"};
inline constexpr Orchestration<int(int)> climber{"climber"};
inline int begun = 0;  ///< how often the code of a climber began, replays included

/// Two steps, each a call, with a line in the log before each.
inline Task<int> run_climber(OrchestrationContext& ctx, int height) {
  ++begun;
  ctx.log("first step");
  height = co_await ctx.call(add_one, height, {.retry = retry(3, std::chrono::seconds(1))});
  ctx.log("second step");
  height = co_await ctx.call(add_one, height);
  co_return height;
}

inline constexpr Orchestration<void()> guide{"guide"};

/// Three climbers at once.
inline Task<void> run_guide(OrchestrationContext& ctx) {
  std::vector<Future<int>> rope;
  for (int i = 0; i < 3; ++i) rope.push_back(ctx.call(climber, i));
  co_await when_all(std::move(rope));
}

/// Dispatcher and worker over a store in memory in which things go wrong as the test says.
class Steps : public ::testing::Test {
 protected:
  Steps() {
    begun = 0;
    registry_.add(climber, run_climber);
    registry_.add(guide, run_guide);
    registry_.add(add_one, [](int value) { return value + 1; });
    log::set_sink([this](log::Level, std::string_view line) { lines_.emplace_back(line); });
  }
  ~Steps() override { log::set_sink(nullptr); }

  static std::unique_ptr<Provider> open(Clock& clock) {
    sqlite::Options options;
    options.path = ":memory:";
    options.writer_thread = false;
    options.clock = &clock;
    return sqlite::open(options).value();
  }

  void start(const std::string& id, const std::string& name = "climber") {
    StartOrchestration request;
    request.id = id;
    request.name = name;
    request.input = "1";
    request.run_timeout = run_timeout_;
    ASSERT_TRUE(store_.start_orchestration(std::move(request)).ok());
  }

  runtime::Step turn() {
    if (!dispatcher_) {
      dispatcher_ = std::make_unique<runtime::OrchestrationDispatcher>(
          runtime::OrchestrationDispatcher::Parts{
              store_, tokens_, *registry_.table(), frames_, attempts_, random_},
          options_);
    }
    return dispatcher_->poll_once();
  }
  runtime::Step work() { return worker_.poll_once(); }

  /// Turns until none is left now.
  void settle() {
    int turns = 0;
    while (turns < 50 && turn()) ++turns;
    EXPECT_LT(turns, 50) << "it never comes to rest";
  }

  /// Runs everything to the end.
  void finish() {
    for (int i = 0; i < 100 && (turn() || work() || more_later()); ++i) {
    }
  }
  bool more_later() {
    clock_.advance(std::chrono::seconds(30));
    return status("a") == ExecutionStatus::kRunning;
  }

  ExecutionInfo info(const std::string& id) { return store_.get_instance(id).value().current; }
  ExecutionStatus status(const std::string& id) { return info(id).status; }
  std::int64_t count_lines(std::string_view text) const {
    std::int64_t found = 0;
    for (const std::string& line : lines_) found += line.find(text) != std::string::npos ? 1 : 0;
    return found;
  }

  Registry registry_;
  VirtualClock clock_;
  std::unique_ptr<Provider> real_ = open(clock_);
  TamperedProvider store_{*real_};
  TokenMint tokens_{store_.register_process({}).value()};
  runtime::FrameCache frames_{{}};
  runtime::Attempts attempts_;
  runtime::RealSleeper sleeper_;
  SeededRandom random_{1};
  Duration run_timeout_{};
  runtime::DispatcherOptions options_{.replay_check_fraction = 0.0};
  std::unique_ptr<runtime::OrchestrationDispatcher> dispatcher_;
  runtime::ActivityWorker worker_{
      {store_, tokens_, *registry_.table(), attempts_, sleeper_, random_}, {}};
  std::vector<std::string> lines_;
};

}  // namespace perdure::test
