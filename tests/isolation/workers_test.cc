#include <csignal>
#include <filesystem>

#include "tests/isolation/handlers.h"
#include "tests/isolation/seen_process.h"
#include "tests/live/live_fixture.h"
#include "tests/live/log_lines.h"
#include "tests/processes/child.h"

/// Isolated handlers under a runtime.
namespace perdure::test::workers_test {

namespace {

constexpr Activity<int(int)> beside{"beside"};  ///< on a thread of this process
constexpr Orchestration<std::string(std::string)> ending{"ending"};
constexpr Orchestration<std::string(std::string)> echoing{"echoing"};
constexpr Orchestration<void(std::string)> hearing{"hearing"};
constexpr Orchestration<void(std::string)> ignoring{"ignoring"};
constexpr Orchestration<std::string(std::string)> overtime{"overtime"};
constexpr Orchestration<int(int)> neighbor{"neighbor"};

Task<std::string> run_ending(OrchestrationContext& ctx, std::string how) {
  auto call = ctx.call(end_so, how);
  const auto outcome = co_await call.outcome();
  co_return outcome.ok() ? outcome.value() : outcome.failure().type;
}
Task<std::string> run_echoing(OrchestrationContext& ctx, std::string text) {
  co_return co_await ctx.call(echo, text);
}
Task<void> run_hearing(OrchestrationContext& ctx, std::string path) {
  co_await ctx.call(listening, path, {.on_cancel = OnCancel::kWait});
}
Task<void> run_ignoring(OrchestrationContext& ctx, std::string path) {
  co_await ctx.call(deaf, path);
}
Task<std::string> run_overtime(OrchestrationContext& ctx, std::string path) {
  auto call = ctx.call(deaf, path, {.start_to_close = 2s});
  const auto outcome = co_await call.outcome();
  co_return outcome.ok() ? std::string("done") : outcome.failure().type;
}
Task<int> run_neighbor(OrchestrationContext& ctx, int value) {
  co_return co_await ctx.call(beside, value);
}

class IsolatedWork : public Live {
 protected:
  IsolatedWork() {
    registry_ = isolated_handlers();
    registry_.add(ending, run_ending);
    registry_.add(echoing, run_echoing);
    registry_.add(hearing, run_hearing);
    registry_.add(ignoring, run_ignoring);
    registry_.add(overtime, run_overtime);
    registry_.add(neighbor, run_neighbor);
    registry_.add(beside, [begun = begun_, leave = leave_](int value) {
      begun->open();
      leave->wait();
      return value;
    });
  }
  ~IsolatedWork() override { leave_->open(); }

  static RuntimeOptions one_slot(Duration grace) {
    RuntimeOptions options = Live::options();
    options.max_concurrent_activities = 1;
    options.activity_cancellation_grace_period = grace;
    return options;
  }
  static std::string quoted(const std::string& text) { return '"' + text + '"'; }

  const std::shared_ptr<Gate> begun_ = std::make_shared<Gate>();
  const std::shared_ptr<Gate> leave_ = std::make_shared<Gate>();
  const std::string path_ = dir_.file("pid");
  LogLines log_;
};

TEST_F(IsolatedWork, ThatCrashesHarmsNoNeighbor) {
  run();
  start(hearing, "isolated", quoted(path_));
  start(neighbor, "thread", "7");
  const pid_t pid = wait_for_pid(path_);
  ASSERT_TRUE(begun_->wait());
  start(ending, "crash", quoted("segfault"));
  EXPECT_EQ(end_of("crash").output, quoted(kProcessDiedFailure));
  start(echoing, "echo", quoted("still here"));
  EXPECT_EQ(end_of("echo").output, quoted("still here"));
  EXPECT_FALSE(is_gone(pid));
  EXPECT_EQ(info("isolated").status, ExecutionStatus::kRunning);
  leave_->open();
  EXPECT_EQ(end_of("thread").output, "7");
  cancel("isolated", "enough");
  EXPECT_EQ(end_of("isolated").status, ExecutionStatus::kCanceled);
}

TEST_F(IsolatedWork, ThatLoopsForEverIsGoneAfterGraceAndItsSlotIsUsedAgain) {
  run(one_slot(200ms));
  start(ignoring, "deaf", quoted(path_));
  const pid_t pid = wait_for_pid(path_);
  const auto canceled_at = steady_now();
  EXPECT_TRUE(cancel("deaf", "enough").changed);
  wait_until([&] { return is_gone(pid); }, "the process is gone");
  const auto took = steady_now() - canceled_at;
  EXPECT_GE(took, 200ms);
  EXPECT_LT(took, 10s) << "it hangs";
  RecordProperty("gone_after_ms", static_cast<int>(took / 1ms));
  start(echoing, "next", quoted("next"));
  EXPECT_EQ(end_of("next").output, quoted("next"));
  wait_for([&] { return log_.count(log::Level::kWarning, "it was killed") == 1; }, "the warning");
}

TEST_F(IsolatedWork, ThatCrashesFreesItsSlot) {
  run(one_slot(10min));
  start(ending, "crash", quoted("segfault"));
  EXPECT_EQ(end_of("crash").output, quoted(kProcessDiedFailure));
  start(echoing, "next", quoted("next"));
  EXPECT_EQ(end_of("next").output, quoted("next"));
}

class IsolatedWorkSoak : public IsolatedWork {};

TEST_F(IsolatedWorkSoak, ThatLoopsForEverIsGoneASecondAfterItsGrace) {
  run(one_slot(200ms));
  start(ignoring, "deaf", quoted(path_));
  const pid_t pid = wait_for_pid(path_);
  EXPECT_TRUE(cancel("deaf", "enough").changed);
  [[maybe_unused]] const auto canceled_at = steady_now();
  wait_until([&] { return is_gone(pid); }, "the process is gone");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(steady_now() - canceled_at, 1200ms);
#endif
}

TEST_F(IsolatedWork, ThatTakesTooLongIsKilledAfterItsTimeout) {
  run(one_slot(50ms));
  start(overtime, "late", quoted(path_));
  EXPECT_EQ(end_of("late").output, quoted(kTimeoutFailure));
  const pid_t pid = wait_for_pid(path_);
  wait_until([&] { return is_gone(pid); }, "the process is gone");
}

TEST_F(IsolatedWork, ThatListensStopsBeforeItsGrace) {
  run(one_slot(10min));
  start(hearing, "h", quoted(path_));
  const pid_t pid = wait_for_pid(path_);
  EXPECT_TRUE(cancel("h", "enough").changed);
  EXPECT_EQ(end_of("h").status, ExecutionStatus::kCanceled);
  wait_until([&] { return is_gone(pid); }, "the process is gone");
  wait_for([&] { return log_.count(log::Level::kInfo, "has stopped as it was told") == 1; },
           "the line in the log");
  EXPECT_EQ(log_.count(log::Level::kWarning, ""), 0);
}

TEST_F(IsolatedWork, ThatDoesNotStopIsGoneWhenTheRuntimeIs) {
  RuntimeOptions options = Live::options();
  options.shutdown_grace_period = 0s;
  options.shutdown_force_timeout = 5s;
  options.activity_cancellation_grace_period = 10min;
  run(options);
  start(ignoring, "deaf", quoted(path_));
  const pid_t pid = wait_for_pid(path_);
  runtime_->stop();
  EXPECT_TRUE(is_gone(pid));
  EXPECT_EQ(log_.count(log::Level::kWarning, "left to themselves"), 0);
}

TEST_F(IsolatedWork, EndsWithItsWorkerThatIsKilled) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  Child worker(program, {"--worker", "sqlite:" + dir_.file("other"), path_});
  ASSERT_EQ(worker.line(), "ready");
  const pid_t pid = wait_for_pid(path_);
  EXPECT_FALSE(is_gone(pid));
  worker.send(SIGKILL);
  EXPECT_EQ(worker.end(), "was ended by SIGKILL");
  wait_until([&] { return is_gone(pid); }, "the process is gone");
}

}  // namespace

}  // namespace perdure::test::workers_test
