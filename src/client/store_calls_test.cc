#include "client/store_calls.h"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/errors.h>

#include "client/made_id.h"

namespace perdure::client {

namespace {

using namespace std::chrono_literals;

/// Answers from a list, then with success; counts.
struct Scripted {
  std::vector<Error> errors;
  int calls = 0;

  Result<int> operator()() {
    const auto call = static_cast<std::size_t>(calls++);
    if (call < errors.size()) return errors[call];
    return 7;
  }
};

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Unavailable& error) {
    return error.what();
  }
  return "(no trouble)";
}

TEST(StoreCalls, WaitOutTroubleWithTheStore) {
  Scripted store{{busy("held"), unavailable("disk"), commit_unknown("line"), busy("held")}};
  EXPECT_EQ(read(CallTime(60s), [&] { return store(); }), 7);
  EXPECT_EQ(store.calls, 5);
}

TEST(StoreCalls, DoNotRepeatWhatBringsTheSame) {
  for (const Error& error :
       {not_found("x"), conflict("x"), invalid_argument("x"), corrupt("x"), lock_lost("x")}) {
    Scripted store{{error}};
    EXPECT_THROW(read(CallTime(60s), [&] { return store(); }), Exception) << error;
    EXPECT_EQ(store.calls, 1) << error;
  }
}

TEST(StoreCalls, SayThatNothingWasChangedWhenTimeRunsOut) {
  Scripted store{std::vector<Error>(1'000, busy("held by others"))};
  const CallTime time(1s);
  EXPECT_EQ(refusal([&] { read(time, [&] { return store(); }); }),
            "held by others (no success within 1000 ms); nothing was changed, try again");
  EXPECT_GT(store.calls, 1);
  EXPECT_TRUE(time.passed());
}

TEST(StoreCalls, SayThatTheOutcomeIsNotKnownAlsoWhenLaterTriesDidNothing) {
  const CallTime time(1s);
  Trouble trouble(time, "r-1");
  trouble.wait_out(commit_unknown("no answer"));
  EXPECT_EQ(refusal([&] {
              for (;;) trouble.wait_out(busy("held by others"));
            }),
            "it is not known whether the call took place: held by others (no success within 1000 "
            "ms); repeat it with request_id 'r-1': what took place is not done again");
}

TEST(CallTime, HasAnEndAlsoForLongTimes) {
  EXPECT_FALSE(CallTime(Duration::max()).passed());
  EXPECT_GT(CallTime(Duration::max()).left(), 24h);
  EXPECT_TRUE(CallTime(0ms).passed());
  EXPECT_EQ(CallTime(-1s).left(1ms), 1ms);
}

TEST(MadeId, IsNewEachTimeAndLeavesGivenOnesAlone) {
  EXPECT_EQ(made_id().size(), 32U);
  EXPECT_NE(made_id(), made_id());
  EXPECT_EQ(request_id_or_made("mine"), "mine");
  EXPECT_EQ(request_id_or_made("").substr(0, 5), "auto-");
}

}  // namespace

}  // namespace perdure::client
