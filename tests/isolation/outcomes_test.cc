#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/isolation/one_attempt.h"

/// What comes back from the process of a handler.
namespace perdure::test::outcomes_test {

namespace {

std::ptrdiff_t open_descriptors_here() {
  const std::filesystem::directory_iterator open("/proc/self/fd");
  return std::distance(begin(open), end(open));
}

class IsolatedOutcomes : public OneAttempt {
 protected:
  /// Of an attempt that ends in this way.
  Failure failure(const std::string& how, Kind kind = Kind::kRetryAt) {
    const WorkOutcome outcome = run(end_so.name(), quoted(how));
    EXPECT_EQ(outcome.kind, kind) << outcome.result;
    return outcome.failure;
  }
};

TEST_F(IsolatedOutcomes, AreMadeInAnotherProcessThatIsGoneThen) {
  const WorkOutcome outcome = run(own_pid.name());
  ASSERT_EQ(outcome.kind, Kind::kCompleted) << outcome.failure.message;
  const pid_t pid = std::stoi(outcome.result);
  EXPECT_NE(pid, ::getpid());
  EXPECT_EQ(state_of(pid), 0) << "reaped";
}

TEST_F(IsolatedOutcomes, TellOfTheSameContextAsHere) {
  WorkItem item = item_of(describe.name(), "null");
  item.failures = 1;
  item.heartbeat_details = R"("half")";
  item.work.timeouts.start_to_close = 10s;
  make(item);
  const std::string here = (*registry_.table()->find_activity(describe.name()))(*attempt_, "null");
  EXPECT_NE(here.find("order,2,checkout,2.1,describe,5,2,order/2/5,here:1#1,"), std::string::npos);
  EXPECT_EQ(run().result, here);
  make(item_of(describe.name(), "null"));
  EXPECT_NE(run().result.find("none,nothing"), std::string::npos);
}

TEST_F(IsolatedOutcomes, MayBeLarge) {
  const std::string text = quoted(std::string(std::size_t{2} << 20U, 'x'));
  make(item_of(echo.name(), text), text.size());
  const WorkOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kCompleted) << outcome.failure.message;
  EXPECT_TRUE(outcome.result == text);
}

TEST_F(IsolatedOutcomes, AreRefusedThereWhenTheyAreTooLarge) {
  make(item_of(echo.name(), quoted(std::string(200, 'x'))), 100);
  const WorkOutcome isolated = run();
  make(item_of(echo.name(), quoted(std::string(200, 'x'))), 100);
  const WorkOutcome here = runtime::run_registered(*registry_.table(), *attempt_, random_, 10s);
  EXPECT_EQ(isolated.kind, here.kind);
  EXPECT_EQ(isolated.failure, here.failure);
}

TEST_F(IsolatedOutcomes, HaveTheHeartbeatsBefore) {
  const WorkOutcome outcome = run(beat.name(), "1000");
  EXPECT_EQ(outcome.failure.type, "broken");
  EXPECT_EQ(attempt_->reported(), "1000");
  WorkItem second = item_of(beat.name(), "1000");
  second.failures = 1;
  second.heartbeat_details = *attempt_->reported();
  make(second);
  EXPECT_EQ(run().result, "1000");
}

TEST_F(IsolatedOutcomes, OfExceptionsAreThoseOfAHandlerHere) {
  EXPECT_EQ(failure("failed"), (Failure{"gateway", "no answer", true, R"({"port":80})"}));
  EXPECT_EQ(failure("final", Kind::kFailed), (Failure{"card", "declined", false, ""}));
  EXPECT_EQ(failure("standard"), (Failure{"std::runtime_error", "a plain exception", true, ""}));
  EXPECT_EQ(failure("refused", Kind::kFailed),
            (Failure{"invalid_argument", "a bad call", false, ""}));
  EXPECT_EQ(failure("number").type, "unknown");
  // Nobody has told it to.
  EXPECT_EQ(failure("canceled", Kind::kFailed), (Failure{"canceled", "at will", false, ""}));
}

TEST_F(IsolatedOutcomes, OfCrashesNameTheSignalOrTheExitCode) {
  EXPECT_EQ(failure("segfault"),
            (Failure{kProcessDiedFailure,
                     "the process of the activity ended by signal 11 (Segmentation fault)",
                     true,
                     ""}));
  EXPECT_EQ(failure("killed").message, "the process of the activity ended by signal 9 (Killed)");
  EXPECT_EQ(failure("exit").message,
            "the process of the activity ended with exit code 3 before it gave a result");
}

TEST_F(IsolatedOutcomes, SayThatTheHandlerIsMissingThere) {
  registry_.add(
      Activity<int()>{"unknown there"}, [] { return 1; }, {.isolation = Isolation::kProcess});
  const WorkOutcome outcome = run("unknown there");
  EXPECT_EQ(outcome.kind, Kind::kFailed) << "not tried again";
  EXPECT_EQ(outcome.failure.type, kIsolationFailure);
  EXPECT_NE(outcome.failure.message.find("add it before pd::isolated_main"), std::string::npos);
}

TEST_F(IsolatedOutcomes, SayWhatToCallWhenTheProcessDoesNotBegin) {
  limits_.silence = 50ms;
  for (const std::string& what : {std::string("exit"), dir_.file("hangs")}) {
    const OtherMain other(what);
    const WorkOutcome outcome = run(echo.name(), quoted("x"));
    EXPECT_EQ(outcome.failure.type, kIsolationFailure) << what;
    EXPECT_NE(outcome.failure.message.find(
                  "call pd::isolated_main(argc, argv, registry) first in main"),
              std::string::npos)
        << outcome.failure.message;
  }
}

TEST_F(IsolatedOutcomes, WithTooFewDescriptorsGiveTheCallBack) {
  make(item_of(echo.name(), quoted("x")));
  const int first = ::dup(STDERR_FILENO);
  const int second = ::dup(STDERR_FILENO);
  ::close(first);
  ::close(second);
  rlimit former{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &former), 0);
  const rlimit two_more{static_cast<rlim_t>(second) + 1, former.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &two_more), 0);
  const WorkOutcome outcome = run();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &former), 0);
  EXPECT_EQ(outcome.kind, Kind::kGivenBack);
  EXPECT_EQ(outcome.delay, 10s);
}

TEST_F(IsolatedOutcomes, LeaveNoDescriptorBehind) {
  (void)failure("final", Kind::kFailed);
  const std::ptrdiff_t before = open_descriptors_here();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(run(echo.name(), quoted("x")).result, quoted("x"));
    (void)failure("failed");
    (void)failure("exit");
  }
  EXPECT_EQ(open_descriptors_here(), before);
}

TEST_F(IsolatedOutcomes, AreMadeWithNoDescriptorOfThisProcess) {
  const int inherited = ::dup(STDERR_FILENO);  // open after an exec
  EXPECT_EQ(run(descriptors.name()).result, quoted("0 1 2 3 "));
  ::close(inherited);
}

TEST_F(IsolatedOutcomes, LeaveNoProcessOfTheHandlerBehind) {
  const std::string path = dir_.file("left");
  const WorkOutcome outcome = run(breeding.name(), quoted(path));
  EXPECT_EQ(outcome.kind, Kind::kCompleted) << outcome.failure.message;
  const pid_t left = wait_for_pid(path);
  wait_until([&] { return is_gone(left); }, "what the handler left is gone");
}

}  // namespace

}  // namespace perdure::test::outcomes_test
