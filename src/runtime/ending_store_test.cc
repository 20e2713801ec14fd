#include "runtime/ending_store.h"

#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace perdure::test::ending_store_test {

namespace {

using namespace std::chrono_literals;
using runtime::EndingStore;

/// A store that does not answer before it is told to. Only heartbeats come.
class SilentStore final : public ForwardingProvider {
 public:
  using ForwardingProvider::ForwardingProvider;
  using ForwardingProvider::submit;

  void submit(HeartbeatProcess, Completion<std::int64_t> done, CallOptions options) override {
    waiting.push_back(std::move(done));
    timeouts.push_back(options.timeout);
  }

  void submit(ReleaseProcess request, Completion<ReleaseProcess::Answer>, CallOptions) override {
    released.push_back(request.epoch);
  }

  std::vector<Epoch> released;
  std::vector<Completion<std::int64_t>> waiting;
  std::vector<std::chrono::milliseconds> timeouts;
};

class EndingStoreTest : public ::testing::Test {
 protected:
  /// What it was answered last.
  void beat(CallOptions options = {}) {
    ending_.submit(HeartbeatProcess{},
                   [this](Result<std::int64_t> answer) {
                     ++answers_;
                     last_.emplace(std::move(answer));
                   },
                   options);
  }

  // Itself, since there is nobody behind it: what is not overridden must not be called.
  SilentStore silent_{static_cast<Provider&>(silent_)};
  EndingStore ending_{silent_};
  int answers_ = 0;
  std::optional<Result<std::int64_t>> last_;
};

TEST_F(EndingStoreTest, HandsAnswersOn) {
  beat();
  EXPECT_EQ(answers_, 0);
  silent_.waiting[0](7);
  ASSERT_EQ(answers_, 1);
  EXPECT_EQ(last_->value(), 7);
  ending_.end_now();
  EXPECT_EQ(answers_, 1) << "once";
}

TEST_F(EndingStoreTest, EndsCallsThatAreUnderWayAndDropsTheirAnswers) {
  beat();
  beat();
  ending_.end_now();
  ASSERT_EQ(answers_, 2);
  EXPECT_EQ(last_->code(), ErrorCode::kCommitUnknown);
  silent_.waiting[0](7);
  EXPECT_EQ(answers_, 2);
}

TEST_F(EndingStoreTest, RefusesWhatComesAfterTheEnd) {
  ending_.end_now();
  beat();
  ASSERT_EQ(answers_, 1);
  EXPECT_EQ(last_->code(), ErrorCode::kUnavailable);
  EXPECT_TRUE(silent_.waiting.empty()) << "nothing is written";
}

TEST_F(EndingStoreTest, HandsAReleaseOnAfterTheEnd) {
  ending_.end_now();
  std::optional<ErrorCode> heard;
  ending_.submit(
      ReleaseProcess{Epoch{3}},
      [&](const Result<ReleaseProcess::Answer>& answer) { heard = answer.code(); },
      {});
  EXPECT_EQ(heard, ErrorCode::kCommitUnknown) << "nobody waits for it";
  EXPECT_EQ(silent_.released, std::vector<Epoch>{Epoch{3}});
}

TEST_F(EndingStoreTest, HandsAnswersOfAStoreOnThatOutlivesIt) {
  auto shorter = std::make_unique<EndingStore>(silent_);
  shorter->submit(
      HeartbeatProcess{}, [this](Result<std::int64_t>) { ++answers_; }, {});
  shorter->end_now();
  shorter.reset();
  silent_.waiting[0](7);
  EXPECT_EQ(answers_, 1);
}

TEST_F(EndingStoreTest, LetsCallsLastNoLongerThanItself) {
  beat();
  ending_.end_by(steady_now() + 10s);
  beat();
  beat({.timeout = 2s});
  ending_.end_by(steady_now() - 1s);
  beat();
  ASSERT_EQ(silent_.timeouts.size(), 4U);
  EXPECT_EQ(silent_.timeouts[0], CallOptions{}.timeout);
  EXPECT_LE(silent_.timeouts[1], 10s);
  EXPECT_GT(silent_.timeouts[1], 2s);
  EXPECT_EQ(silent_.timeouts[2], 2s);
  EXPECT_EQ(silent_.timeouts[3], 0s);
}

}  // namespace

}  // namespace perdure::test::ending_store_test
