#include <csignal>

#include <gtest/gtest.h>

#include "tests/processes/child.h"

/// Real signals to a real process.
namespace perdure::test::signals_test {
namespace {

Child start(const std::string& which) {
  return Child(PERDURE_SIGNALS_CHILD, {which});
}

/// A process that listens.
void send_when_ready(Child& child, int signal) {
  ASSERT_EQ(child.line(), "ready");
  child.wait_for_handlers();
  child.send(signal);
}

TEST(RunUntilSignal, StopsAndAnswersTheSignal) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Child child = start("once");
    send_when_ready(child, signal);
    EXPECT_EQ(child.line(), "stopping");
    EXPECT_EQ(child.line(), "returned " + std::to_string(signal));
    EXPECT_EQ(child.end(), "returned 0");
  }
}

TEST(RunUntilSignal, CanBeCalledAgain) {
  Child child = start("twice");
  for (const int signal : {SIGTERM, SIGINT}) {
    send_when_ready(child, signal);
    EXPECT_EQ(child.line(), "stopping");
    EXPECT_EQ(child.line(), "returned " + std::to_string(signal));
  }
  EXPECT_EQ(child.end(), "returned 0");
}

TEST(RunUntilSignal, GivesTheFormerHandlersBack) {
  Child child = start("give-back");
  send_when_ready(child, SIGTERM);  // heard, although it was ignored before
  EXPECT_EQ(child.line(), "stopping");
  EXPECT_EQ(child.line(), "returned 15");
  EXPECT_EQ(child.line(), "former handler got 2");
  EXPECT_EQ(child.end(), "returned 0");
}

TEST(RunUntilSignal, HearsASignalThatLandsOnAnotherThread) {
  Child child = start("other-thread");
  EXPECT_EQ(child.line(), "returned 15");
  EXPECT_EQ(child.end(), "returned 0");
}

TEST(RunUntilSignal, HearsASignalThatCameBeforeTheCallWhileItWasBlocked) {
  Child child = start("pending");
  EXPECT_EQ(child.line(), "pending");
  EXPECT_EQ(child.line(), "stopping");
  EXPECT_EQ(child.line(), "returned 15");
  EXPECT_EQ(child.line(), "blocked");
  EXPECT_EQ(child.end(), "returned 0");
}

TEST(RunUntilSignal, HearsASignalThatAllThreadsBlock) {
  Child child = start("blocked");
  ASSERT_EQ(child.line(), "ready");
  child.send(SIGTERM);
  EXPECT_EQ(child.line(), "stopping");
  EXPECT_EQ(child.line(), "returned 15");
  EXPECT_EQ(child.line(), "blocked");
  EXPECT_EQ(child.end(), "returned 0");
}

TEST(RunUntilSignal, EndsTheProcessAtTheSecondSignal) {
  for (const int second : {SIGINT, SIGTERM}) {
    Child child = start("hang");
    send_when_ready(child, SIGTERM);
    ASSERT_EQ(child.line(), "stopping");
    child.send(second);
    EXPECT_EQ(child.end(), "returned " + std::to_string(128 + second));
  }
}

TEST(RunUntilSignal, EndsTheProcessWhenStoppingTakesTooLong) {
  Child child = start("overdue");
  send_when_ready(child, SIGINT);
  EXPECT_EQ(child.line(), "stopping");
  EXPECT_EQ(child.end(), "returned 130");
}

TEST(RunUntilSignal, EndsAllCallsWithOneSignal) {
  Child child = start("two");
  send_when_ready(child, SIGTERM);
  EXPECT_EQ(child.line(), "stopped 2");
  EXPECT_EQ(child.line(), "returned 15");
  EXPECT_EQ(child.end(), "returned 0");
}

TEST(RunUntilSignal, GivesTheHandlersBackWhenStoppingThrows) {
  Child child = start("throw");
  send_when_ready(child, SIGTERM);
  EXPECT_EQ(child.line(), "cannot stop");
  EXPECT_EQ(child.line(), "former handler got 15");
  EXPECT_EQ(child.end(), "returned 0");
}

}  // namespace
}  // namespace perdure::test::signals_test
