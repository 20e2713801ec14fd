#include "tests/runtime/process_steps.h"

namespace perdure::test::process_life_test {

class Life : public ProcessSteps {
 protected:
  std::int64_t counter() { return store().list_processes()->at(0).heartbeat; }
};

TEST_P(Life, WritesNothingWhileItHoldsNothing) {
  Observer self(store(), epoch());
  for (int second = 0; second < 100; ++second) {
    const Step step = self.life.poll_once(at(second * 1s));
    EXPECT_FALSE(step);
    EXPECT_FALSE(step.trouble);
  }
  EXPECT_EQ(self.store.statements(), 0);
  EXPECT_EQ(counter(), 0);
}

TEST_P(Life, BeatsOncePerIntervalWhileItHoldsSomething) {
  Observer self(store(), epoch(), {.interval = 2s});
  EXPECT_FALSE(self.life.poll_once(at(0s)));
  self.holds = true;
  EXPECT_FALSE(self.life.poll_once(at(1s))) << "not due";
  EXPECT_EQ(self.life.due(), at(2s));
  EXPECT_TRUE(self.life.poll_once(at(2s)));
  EXPECT_FALSE(self.life.poll_once(at(3999ms)));
  EXPECT_TRUE(self.life.poll_once(at(4s)));
  EXPECT_EQ(counter(), 2);
  EXPECT_EQ(self.life.beats(), 2);
  self.holds = false;
  EXPECT_FALSE(self.life.poll_once(at(6s)));
  EXPECT_EQ(counter(), 2);
}

TEST_P(Life, BeatsWhileItsWatchWantsIt) {
  Observer self(store(), epoch());
  self.life.beat_while_idle(true);
  EXPECT_TRUE(self.life.poll_once(at(0s)));
  EXPECT_TRUE(self.life.poll_once(at(1s)));
  self.life.beat_while_idle(false);
  EXPECT_FALSE(self.life.poll_once(at(2s)));
  EXPECT_EQ(counter(), 2);
}

TEST_P(Life, TellsThatItsRegistrationHasEnded) {
  Observer self(store(), epoch());
  self.holds = true;
  EXPECT_TRUE(self.life.poll_once(at(0s)));
  ASSERT_TRUE(store().take_over({.epoch = epoch()}).ok());
  const Step step = self.life.poll_once(at(1s));
  EXPECT_FALSE(step);
  ASSERT_TRUE(step.trouble);
  EXPECT_EQ(step.trouble->code, ErrorCode::kLockLost);
  EXPECT_EQ(self.life.beats(), 1);
}

TEST_P(Life, GoesOnAfterTroubleOfTheStore) {
  Observer self(store(), epoch());
  self.holds = true;
  self.store.beat_error = unavailable("down");
  const Step step = self.life.poll_once(at(0s));
  EXPECT_FALSE(step);
  ASSERT_TRUE(step.trouble);
  EXPECT_EQ(step.trouble->code, ErrorCode::kUnavailable);
  EXPECT_EQ(self.life.beats(), 0);
  EXPECT_TRUE(self.life.poll_once(self.life.due()));
  EXPECT_EQ(counter(), 1);
}

PERDURE_CONFORMANCE_SUITE(Life);

}  // namespace perdure::test::process_life_test
