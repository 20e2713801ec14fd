#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <perdure/client.h>
#include <perdure/perdure.h>

#include "base/random.h"
#include "provider/provider.h"
#include "provider/token_mint.h"
#include "runtime/activity_worker.h"
#include "runtime/frame_cache.h"
#include "runtime/orchestration_dispatcher.h"
#include "tests/support/temp_dir.h"

/// What the tests of the client share: a store, a client on it, and an engine for runs that move.
namespace perdure::test {

using namespace std::chrono_literals;

/// Only a call that hangs lasts so long.
inline constexpr Duration kPatience = 60s;

inline constexpr Activity<int(int)> twice{"twice"};
inline constexpr Orchestration<int(int)> doubled{"doubled"};
inline constexpr Orchestration<void()> broken{"broken"};
inline constexpr Orchestration<std::string()> greeter{"greeter"};
inline constexpr Orchestration<int(int)> countdown{"countdown"};
inline constexpr Orchestration<int(int)> family{"family"};
inline constexpr Event<std::string> guest{"guest"};

inline Task<int> run_doubled(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(twice, value);
}
inline Task<void> run_broken(OrchestrationContext&) {
  throw Failed("no_luck", "it was not to be", false);
  co_return;
}
inline Task<std::string> run_greeter(OrchestrationContext& ctx) {
  ctx.set_status("waiting");
  std::string name = co_await ctx.wait_for(guest);
  name += " and " + co_await ctx.wait_for(guest);
  co_return name;
}
inline Task<int> run_countdown(OrchestrationContext& ctx, int left) {
  if (left > 0) {
    co_await ctx.wait_for(guest);
    co_await ctx.continue_as_new(countdown, left - 1);
  }
  co_return 100 + static_cast<int>(ctx.execution());
}
inline Task<int> run_family(OrchestrationContext& ctx, int value) {
  auto first = ctx.call(doubled, value, {.id = "child-1"});
  auto second = ctx.call(doubled, value + 1, {.id = "child-2"});
  const int sum = co_await first;
  co_return sum + co_await second;
}

inline Registry sample() {
  Registry registry;
  registry.add(doubled, run_doubled);
  registry.add(broken, run_broken);
  registry.add(greeter, run_greeter);
  registry.add(countdown, run_countdown);
  registry.add(family, run_family);
  registry.add(twice, [](int value) { return 2 * value; });
  return registry;
}

/// Takes the runs of the queue "default" through their turns and calls, on the thread of the test.
class Engine {
 public:
  explicit Engine(std::shared_ptr<Provider> store, Registry registry = sample())
      : store_(std::move(store)), registry_(std::move(registry)) {}

  /// Until nothing is left to do now.
  void run() {
    for (bool worked = true; worked;) {
      worked = static_cast<bool>(dispatcher_.poll_once());
      worked = static_cast<bool>(worker_.poll_once()) || worked;
    }
  }

 private:
  std::shared_ptr<Provider> store_;
  Registry registry_;
  TokenMint tokens_{store_->register_process({}).value()};
  runtime::FrameCache frames_{{.count = 0}};
  runtime::Attempts attempts_;
  runtime::RealSleeper sleeper_;
  SeededRandom random_{1};
  runtime::OrchestrationDispatcher dispatcher_{
      {*store_, tokens_, *registry_.table(), frames_, attempts_, random_}, {}};
  runtime::ActivityWorker worker_{
      {*store_, tokens_, *registry_.table(), attempts_, sleeper_, random_}, {}};
};

/// A store in a file and a client on it.
class ClientOnFile : public ::testing::Test {
 protected:
  support::TempDir dir_;
  std::string path_ = dir_.file("store.db");
  std::shared_ptr<Provider> store_ = open("sqlite:" + path_);
  Client client_{store_};
};

/// The same test on a file and in memory.
class ClientTest : public ::testing::TestWithParam<std::string> {
 protected:
  Engine& engine() {
    if (!engine_) engine_ = std::make_unique<Engine>(store_);
    return *engine_;
  }
  void run() { engine().run(); }

  support::TempDir dir_;
  std::shared_ptr<Provider> store_ =
      open(GetParam() == "memory" ? "sqlite::memory:" : "sqlite:" + dir_.file("store.db"));
  Client client_{store_};
  std::unique_ptr<Engine> engine_;
};

#define PERDURE_CLIENT_SUITE(Suite)                                               \
  INSTANTIATE_TEST_SUITE_P(                                                       \
      Stores, Suite, ::testing::Values("file", "memory"), [](const auto& param) { \
        return param.param;                                                       \
      })

/// What the call throws of this type, or that it throws nothing.
template <class Thrown>
std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Thrown& error) {
    return error.what();
  }
  return "(nothing thrown)";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace perdure::test
