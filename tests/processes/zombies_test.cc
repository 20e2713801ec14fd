#include <csignal>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <perdure/perdure.h>

#include "base/clock.h"
#include "tests/processes/child.h"
#include "tests/processes/zombies_code.h"
#include "tests/support/temp_dir.h"

namespace perdure::test::process_zombies_test {

namespace {

using namespace std::chrono_literals;

class ProcessZombies : public ::testing::Test {
 protected:
  Child start(const std::string& which) {
    return Child(PERDURE_ZOMBIES_CHILD, {which, file_, log_});
  }
  /// When the child says that it cancels, by the clock of the system.
  static std::chrono::steady_clock::time_point canceled_at(Child& child) {
    std::istringstream line(child.line());
    std::string word;
    std::int64_t ticks = 0;
    EXPECT_TRUE(line >> word >> ticks && word == "canceling") << line.str();
    return std::chrono::steady_clock::time_point(std::chrono::steady_clock::duration(ticks));
  }
  std::string last_line() const {
    std::ifstream file(log_);
    std::string last;
    for (std::string line; std::getline(file, line);) last = line;
    return last;
  }

  const support::TempDir dir_;
  const std::string file_ = dir_.file("db");
  const std::string log_ = dir_.file("log");
};

TEST_F(ProcessZombies, TooManyOfThemEndTheProcessWithCodeOneAndNothingElseIsLost) {
  {
    Child child = start("too-many");
    const auto canceled = canceled_at(child);
    EXPECT_EQ(child.line(), "not ready");
    EXPECT_EQ(child.end(), "returned 1");
    EXPECT_GE(steady_now() - canceled, kForceExit);
    EXPECT_NE(last_line().find("the process ends, with code 1"), std::string::npos) << last_line();
  }
  const auto store = open("sqlite:" + file_);
  const Client client(store);
  EXPECT_EQ(client.status("polite").status, ExecutionStatus::kRunning);
  EXPECT_EQ(client.status("late").status, ExecutionStatus::kRunning);
  Registry registry;
  add_runs(registry);
  registry.add(deaf, [] {});
  registry.add(polite, [](ActivityContext& ctx) { return ctx.attempt(); });
  Runtime next(store, registry);
  EXPECT_EQ(client.find<int>("late").wait(60s), 7);
  EXPECT_EQ(client.find<int>("polite").wait(60s), 2)
      << "the call has no retries: what was given back was not charged";
}

TEST_F(ProcessZombies, EndTheProcessAlsoWhenTheLogHangs) {
  Child child = start("log-hangs");
  canceled_at(child);
  EXPECT_EQ(child.line(), "the log hangs");
  EXPECT_EQ(child.end(), "returned 1");
}

TEST_F(ProcessZombies, EndTheProcessAlsoWhenTheHookForThatThrows) {
  Child child = start("hook-throws");
  canceled_at(child);
  EXPECT_EQ(child.line(), "on_fatal");
  EXPECT_EQ(child.end(), "returned 1");
  EXPECT_NE(last_line().find("on_fatal has thrown"), std::string::npos) << last_line();
}

TEST_F(ProcessZombies, DoNotKeepAProcessBeyondItsTimeAfterASignal) {
  Child child = start("signal");
  ASSERT_EQ(child.line(), "ready");
  child.wait_for_handlers();
  child.send(SIGTERM);
  EXPECT_EQ(child.end(), "returned " + std::to_string(128 + SIGTERM));
}

}  // namespace

}  // namespace perdure::test::process_zombies_test
