#include <csignal>
#include <thread>

#include "tests/isolation/one_attempt.h"

/// Processes of handlers that are told to stop.
namespace perdure::test::stopping_test {

namespace {

class IsolatedStops : public OneAttempt {
 protected:
  /// Begins an attempt on a thread of its own; answers the pid of its process when it has begun.
  pid_t begin(std::string_view activity) {
    make(item_of(activity, quoted(path_)));
    running_ = std::thread([this] { outcome_ = run(); });
    return wait_for_pid(path_);
  }
  /// How it ended.
  const WorkOutcome& end() {
    running_.join();
    return outcome_;
  }
  void stop(runtime::StopCause cause, const std::string& reason) { attempt_->stop(cause, reason); }

  const std::string path_ = dir_.file("pid");
  std::thread running_;
  WorkOutcome outcome_;
};

TEST_F(IsolatedStops, OfOneThatListensNeedNoGrace) {
  limits_.grace = 10min;
  const pid_t pid = begin(listening.name());
  stop(runtime::StopCause::kCanceled, "enough");
  EXPECT_EQ(end().kind, Kind::kCanceled);
  EXPECT_EQ(state_of(pid), 0);
}

TEST_F(IsolatedStops, OfOneThatOnlyBeatsReachIt) {
  limits_.grace = 10min;
  begin(beating.name());
  stop(runtime::StopCause::kCanceled, "enough");
  EXPECT_EQ(end().kind, Kind::kCanceled);
}

TEST_F(IsolatedStops, OfADeafOneKillItWhenItsGraceIsOver) {
  limits_.grace = 50ms;
  const pid_t pid = begin(deaf.name());
  stop(runtime::StopCause::kCanceled, "enough");
  EXPECT_EQ(end().kind, Kind::kCanceled);
  EXPECT_EQ(state_of(pid), 0);
  EXPECT_GE(attempt_->told_for(), 50ms);
}

TEST_F(IsolatedStops, AtShutdownHaveTheirOwnTimeAndGiveBack) {
  limits_.grace = 10min;
  limits_.shutdown_grace = 50ms;
  begin(deaf.name());
  stop(runtime::StopCause::kShutdown, "the worker shuts down");
  EXPECT_EQ(end().kind, Kind::kGivenBack);
}

TEST_F(IsolatedStops, InterruptABlockingCallAndTellWhy) {
  limits_.grace = 10min;
  const pid_t pid = begin(interruptible.name());
  wait_until([&] { return state_of(pid) == 'S'; }, "it reads");
  stop(runtime::StopCause::kCanceled, "enough");
  EXPECT_EQ(end().result, quoted("interrupted: enough"));
}

TEST_F(IsolatedStops, DoNotInterruptWhatDoesNotSayThatItCanBe) {
  limits_.grace = 50ms;
  const pid_t pid = begin(uninterruptible.name());
  wait_until([&] { return state_of(pid) == 'S'; }, "it reads");
  stop(runtime::StopCause::kCanceled, "enough");
  EXPECT_EQ(end().kind, Kind::kCanceled) << "killed";
}

TEST_F(IsolatedStops, ByASigtermOfSomebodyElseAreNone) {
  limits_.grace = 10min;
  const pid_t pid = begin(beating.name());
  const auto beats = [&] { return std::stoi(attempt_->reported().value_or("-1")); };
  wait_until([&] { return beats() >= 0; }, "it beats");
  ::kill(pid, SIGTERM);
  const int before = beats();
  wait_until([&] { return beats() > before + 1'000; }, "it goes on");
  stop(runtime::StopCause::kCanceled, "enough");
  EXPECT_EQ(end().kind, Kind::kCanceled);
}

TEST_F(IsolatedStops, OfOneThatHasNotBegunEndIt) {
  limits_.silence = 10min;
  limits_.grace = 10min;
  const OtherMain other(path_);
  make(item_of(deaf.name(), quoted(path_)));
  running_ = std::thread([this] { outcome_ = run(); });
  wait_for_pid(path_);
  stop(runtime::StopCause::kCanceled, "enough");
  EXPECT_EQ(end().kind, Kind::kCanceled);
}

TEST_F(IsolatedStops, BeforeTheBeginStartNoProcess) {
  make(item_of(deaf.name(), quoted(path_)));
  stop(runtime::StopCause::kCanceled, "enough");
  EXPECT_EQ(run().kind, Kind::kCanceled);
}

}  // namespace

}  // namespace perdure::test::stopping_test
