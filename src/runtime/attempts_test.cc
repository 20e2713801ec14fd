#include "runtime/attempts.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/attempt.h"

namespace perdure::runtime::attempts_test {

namespace {

/// Notes for each token that fires how many of the attempts had been told by then.
class NotingFirer final : public StopFirer {
 public:
  void fire(std::stop_source source) override {
    int told = 0;
    for (const std::shared_ptr<Attempt>& each : watched) told += each->stopped_by() ? 1 : 0;
    told_before.push_back(told);
    source.request_stop();
  }

  std::vector<std::shared_ptr<Attempt>> watched;
  std::vector<int> told_before;
};

class AttemptsTest : public ::testing::Test {
 protected:
  std::shared_ptr<Attempt> attempt_of(const LockToken& lock) {
    WorkItem item;
    item.lock = lock;
    return std::make_shared<Attempt>(
        std::move(item), Attempt::Surroundings{sleeper_, firer_, 100, {}, "here:1#1", nullptr});
  }
  std::shared_ptr<Attempt> attempt_with(std::int64_t serial) {
    auto attempt = attempt_of({Epoch{1}, serial});
    attempts_.add(attempt);
    return attempt;
  }

  RealSleeper sleeper_;
  const std::shared_ptr<NotingFirer> firer_ = std::make_shared<NotingFirer>();
  Attempts attempts_;
};

TEST_F(AttemptsTest, TellsTheReasonOfTheRunOrElseThatOfTheCommit) {
  const auto of_child = attempt_with(1);
  const auto of_call = attempt_with(2);
  const auto spared = attempt_with(3);
  attempts_.fire({{WorkId{1}, {Epoch{1}, 1}, false, "the parent failed"},
                  {WorkId{2}, {Epoch{1}, 2}, false},
                  {WorkId{9}, {Epoch{2}, 9}, false, "of another process"}},
                 "given up");
  EXPECT_EQ(of_child->cancel_reason(), "the parent failed");
  EXPECT_EQ(of_call->cancel_reason(), "given up");
  EXPECT_FALSE(spared->stopped_by());
  EXPECT_TRUE(of_child->stop_token().stop_requested());
}

TEST_F(AttemptsTest, SayWhenALookHasMissedThem) {
  const LockToken early{Epoch{1}, 1};
  const LockToken late{Epoch{1}, 2};
  attempts_.expect({early, late});
  EXPECT_TRUE(attempts_.add(attempt_of(early)));
  EXPECT_EQ(attempts_.look().size(), 1U);
  EXPECT_FALSE(attempts_.add(attempt_of(late)));
  EXPECT_EQ(attempts_.look().size(), 2U);
}

TEST_F(AttemptsTest, AreAllToldBeforeTheFirstTokenFires) {
  for (int i = 1; i <= 3; ++i) firer_->watched.push_back(attempt_with(i));
  attempts_.fire({{WorkId{1}, {Epoch{1}, 1}, false, "one"},
                  {WorkId{2}, {Epoch{1}, 2}, false, "two"},
                  {WorkId{3}, {Epoch{1}, 3}, false}},
                 "three");
  EXPECT_EQ(firer_->told_before, (std::vector<int>{3, 3, 3}));
  firer_->watched.clear();
}

}  // namespace

}  // namespace perdure::runtime::attempts_test
