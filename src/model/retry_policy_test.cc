#include "model/retry_policy.h"

#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

namespace perdure {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kManyFailures = std::numeric_limits<int>::max();

/// Always the same number; counts how often it was asked.
class FixedRandom final : public Random {
 public:
  explicit FixedRandom(std::uint64_t bits) : bits_(bits) {}
  std::uint64_t next() override {
    ++calls;
    return bits_;
  }

  int calls = 0;

 private:
  std::uint64_t bits_;
};

constexpr std::uint64_t kZero = 0;
constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
constexpr std::uint64_t kAlmostOne = std::numeric_limits<std::uint64_t>::max();

const Failure kFailure{.type = "io", .message = "broken pipe"};

std::optional<Duration> delay_after(const RetryPolicy& policy,
                                    int failures,
                                    const Failure& failure = kFailure) {
  FixedRandom random(kHalf);
  return next_delay(policy, failures, failure, random);
}

RetryPolicy unlimited() {
  return {.max_attempts = 0, .max_delay = hours(24)};
}

// --- check ---------------------------------------------------------------------------------------

/// What `check` says of the default policy after this change; empty when it agrees.
std::string complaint(const std::function<void(RetryPolicy&)>& change) {
  RetryPolicy policy;
  change(policy);
  const Status checked = check(policy);
  if (checked.ok()) return "";
  EXPECT_EQ(checked.code(), ErrorCode::kInvalidArgument);
  return checked.error().message;
}

TEST(RetryPolicyCheck, AcceptsTheDefaultsAndTheEdgesOfEveryRange) {
  EXPECT_EQ(complaint([](RetryPolicy&) {}), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.max_attempts = 0; }), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.max_attempts = 1'000'000; }), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.first_delay = Duration::zero(); }), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.first_delay = p.max_delay; }), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.first_delay = p.max_delay = Duration::zero(); }), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.max_delay = Duration::max(); }), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.backoff = 1.0; }), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.backoff = 100.0; }), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.jitter = 1.0; }), "");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.non_retryable = {"card_declined"}; }), "");
}

TEST(RetryPolicyCheck, NamesTheFieldAndTheRange) {
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.max_attempts = -1; }),
            "max_attempts must be 0 (without limit) to 1000000, but it is -1");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.first_delay = microseconds(-1); }),
            "first_delay must be zero or longer, but it is -1 us");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.backoff = 0.5; }),
            "backoff must be 1 to 100, but it is 0.500000");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.max_delay = milliseconds(1); }),
            "max_delay must be first_delay (1000000 us) or longer, but it is 1000 us");
  EXPECT_EQ(complaint([](RetryPolicy& p) { p.jitter = 1.5; }),
            "jitter must be 0 to 1, but it is 1.500000");
}

TEST(RetryPolicyCheck, RefusesWhatLiesJustOutside) {
  EXPECT_NE(complaint([](RetryPolicy& p) { p.max_attempts = 1'000'001; }), "");
  EXPECT_NE(complaint([](RetryPolicy& p) { p.backoff = std::nextafter(1.0, 0.0); }), "");
  EXPECT_NE(complaint([](RetryPolicy& p) { p.backoff = std::nextafter(100.0, 200.0); }), "");
  EXPECT_NE(complaint([](RetryPolicy& p) { p.jitter = std::nextafter(0.0, -1.0); }), "");
  EXPECT_NE(complaint([](RetryPolicy& p) { p.jitter = std::nextafter(1.0, 2.0); }), "");
  EXPECT_NE(complaint([](RetryPolicy& p) { p.first_delay = p.max_delay + microseconds(1); }), "");
}

TEST(RetryPolicyCheck, RefusesNumbersThatAreNotFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    EXPECT_TRUE(complaint([bad](RetryPolicy& p) { p.backoff = bad; }).starts_with("backoff "));
    EXPECT_TRUE(complaint([bad](RetryPolicy& p) { p.jitter = bad; }).starts_with("jitter "));
  }
}

TEST(RetryPolicyCheck, RefusesFailureTypesThatCannotMatch) {
  for (const std::string& type : {std::string(), std::string("\xFF"), std::string("a\0b", 3)}) {
    const std::string said = complaint([&type](RetryPolicy& p) { p.non_retryable = {"io", type}; });
    EXPECT_TRUE(said.starts_with("non_retryable "));
  }
}

// --- next_delay: whether -------------------------------------------------------------------------

TEST(RetryPolicy, TriesOnceByDefault) {
  EXPECT_EQ(delay_after(RetryPolicy{}, 1), std::nullopt);
}

TEST(RetryPolicy, StopsWhenTheAttemptsAreUsedUp) {
  const RetryPolicy policy{.max_attempts = 3};
  EXPECT_NE(delay_after(policy, 1), std::nullopt);
  EXPECT_NE(delay_after(policy, 2), std::nullopt);
  EXPECT_EQ(delay_after(policy, 3), std::nullopt);
  EXPECT_EQ(delay_after(policy, 4), std::nullopt);
}

TEST(RetryPolicy, NeverStopsWithoutALimit) {
  EXPECT_NE(delay_after(unlimited(), 1'000'000), std::nullopt);
  EXPECT_NE(delay_after(unlimited(), kManyFailures), std::nullopt);
}

TEST(RetryPolicy, IsNotAskedForAFailureThatIsNotRetryable) {
  Failure final = kFailure;
  final.retryable = false;
  EXPECT_EQ(delay_after(unlimited(), 1, final), std::nullopt);
}

TEST(RetryPolicy, TreatsListedTypesAsFinalAndOnlyThose) {
  RetryPolicy policy = unlimited();
  policy.non_retryable = {"card_declined", "io"};
  EXPECT_EQ(delay_after(policy, 1, {.type = "io"}), std::nullopt);
  EXPECT_EQ(delay_after(policy, 1, {.type = "card_declined"}), std::nullopt);
  EXPECT_NE(delay_after(policy, 1, {.type = "io_timeout"}), std::nullopt);
  EXPECT_NE(delay_after(policy, 1, {.type = "IO"}), std::nullopt);
}

// --- next_delay: how long ------------------------------------------------------------------------

TEST(RetryPolicy, MakesEachDelayLongerByTheBackoff) {
  RetryPolicy policy = unlimited();
  EXPECT_EQ(delay_after(policy, 1), seconds(1));
  EXPECT_EQ(delay_after(policy, 2), seconds(2));
  EXPECT_EQ(delay_after(policy, 3), seconds(4));
  EXPECT_EQ(delay_after(policy, 11), seconds(1024));
  policy.backoff = 1.5;
  EXPECT_EQ(delay_after(policy, 3), milliseconds(2250));
  policy.backoff = 1.0;
  EXPECT_EQ(delay_after(policy, 1'000), seconds(1));
}

TEST(RetryPolicy, NeverWaitsLongerThanTheLongestDelay) {
  const RetryPolicy policy{.max_attempts = 0};
  EXPECT_EQ(delay_after(policy, 6), seconds(32));
  EXPECT_EQ(delay_after(policy, 7), minutes(1));
  EXPECT_EQ(delay_after(policy, 8), minutes(1));
}

TEST(RetryPolicy, NeverOverflows) {
  RetryPolicy policy = unlimited();
  for (const double backoff : {1.0, 1.000001, 2.0, 100.0}) {
    policy.backoff = backoff;
    policy.max_delay = Duration::max();
    Duration before = Duration::zero();
    for (int failures = 1; failures > 0 && failures < kManyFailures / 2; failures *= 2) {
      const std::optional<Duration> delay = delay_after(policy, failures);
      ASSERT_TRUE(delay.has_value());
      EXPECT_GE(*delay, before) << "backoff " << backoff << " after " << failures;
      before = *delay;
    }
  }
  EXPECT_EQ(delay_after(policy, kManyFailures), Duration::max());
}

TEST(RetryPolicy, DoesNotWaitWhenTheFirstDelayIsZero) {
  RetryPolicy policy = unlimited();
  policy.first_delay = Duration::zero();
  EXPECT_EQ(delay_after(policy, 1), Duration::zero());
  EXPECT_EQ(delay_after(policy, kManyFailures), Duration::zero());
}

TEST(RetryPolicy, CutsTheDelayByARandomPartUpToTheJitter) {
  RetryPolicy policy = unlimited();
  policy.first_delay = seconds(10);
  policy.jitter = 0.5;
  FixedRandom zero(kZero);
  FixedRandom half(kHalf);
  FixedRandom almost_one(kAlmostOne);
  EXPECT_EQ(next_delay(policy, 1, kFailure, zero), seconds(10));
  EXPECT_EQ(next_delay(policy, 1, kFailure, half), milliseconds(7'500));
  const std::optional<Duration> least = next_delay(policy, 1, kFailure, almost_one);
  ASSERT_TRUE(least.has_value());
  EXPECT_GE(*least, seconds(5));
  EXPECT_LE(*least, seconds(5) + microseconds(1));
}

TEST(RetryPolicy, CutsALongestDelayToo) {
  RetryPolicy policy{.max_attempts = 0, .jitter = 1.0};
  EXPECT_EQ(delay_after(policy, 100), seconds(30));
  policy.max_delay = Duration::max();
  FixedRandom almost_one(kAlmostOne);
  const std::optional<Duration> delay = next_delay(policy, kManyFailures, kFailure, almost_one);
  ASSERT_TRUE(delay.has_value());
  EXPECT_GE(*delay, Duration::zero());
}

TEST(RetryPolicy, DrawsNoRandomNumberWithoutJitter) {
  FixedRandom random(kHalf);
  EXPECT_EQ(next_delay(unlimited(), 1, kFailure, random), seconds(1));
  EXPECT_EQ(random.calls, 0);
}

TEST(RetryPolicy, StaysWithinItsBoundsForEveryRandomNumber) {
  RetryPolicy policy = unlimited();
  policy.jitter = 0.25;
  SeededRandom random(7);
  for (int i = 0; i < 1'000; ++i) {
    const std::optional<Duration> delay = next_delay(policy, 3, kFailure, random);
    ASSERT_TRUE(delay.has_value());
    EXPECT_GE(*delay, seconds(3));
    EXPECT_LE(*delay, seconds(4));
  }
}

// A row of a damaged store may hold anything; the answer must still be a delay.
TEST(RetryPolicy, HoldsAPolicyThatWasNeverChecked) {
  RetryPolicy policy = unlimited();
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity(),
                           -2.0,
                           1e300}) {
    policy.backoff = bad;
    policy.jitter = bad;
    for (const int failures : {-1, 0, 1, 2, 3, kManyFailures}) {
      const std::optional<Duration> delay = delay_after(policy, failures);
      ASSERT_TRUE(delay.has_value());
      EXPECT_GE(*delay, Duration::zero());
      EXPECT_LE(*delay, policy.max_delay);
    }
  }
  policy = unlimited();
  policy.first_delay = policy.max_delay = seconds(-1);
  EXPECT_EQ(delay_after(policy, 2), Duration::zero());
}

}  // namespace
}  // namespace perdure
