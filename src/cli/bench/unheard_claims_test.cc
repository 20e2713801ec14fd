#include "cli/bench/unheard_claims.h"

#include <atomic>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include <perdure/perdure.h>

#include "base/clock.h"
#include "cli/bench/cancel_board.h"
#include "cli/bench/canceled_worker.h"
#include "cli/bench/held_runs.h"
#include "tests/support/temp_dir.h"

namespace perdure::bench::unheard_claims_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kHanging = 60s;

/// Counts how often claims are asked for and waited for.
class Counted final : public ForwardingProvider {
 public:
  explicit Counted(std::shared_ptr<Provider> store)
      : ForwardingProvider(*store), store_(std::move(store)) {}

  Result<std::vector<ClaimState>> check_work_items(const std::vector<HeldClaim>& claims) override {
    ++checks;
    return target().check_work_items(claims);
  }
  Wake wait_for_change(const Interest& interest) override {
    if (interest.claims_of) ++waits;
    return target().wait_for_change(interest);
  }

  std::atomic<int> checks{0};
  std::atomic<int> waits{0};

 private:
  std::shared_ptr<Provider> store_;
};

class UnheardClaimsTest : public ::testing::Test {
 protected:
  /// Starts a runtime whose lease keeper asks so often, and one run; returns when its handler runs.
  void hold_one(const std::shared_ptr<Provider>& store, Duration ask_each) {
    store_ = std::make_shared<Counted>(store);
    RuntimeOptions options;
    options.cancellation_poll_interval = ask_each;
    options.worker_lock_timeout = 1h;
    options.orchestrator_lock_timeout = 1h;
    options.shutdown_grace_period = 0s;
    runtime_ =
        std::make_unique<Runtime>(store_, held_registry(held_until_canceled(board_)), options);
    // Its first look is over when it waits, so that it cannot be the one that finds the cancel.
    const auto until = steady_now() + kHanging;
    while (store_->waits == 0) {
      ASSERT_LT(steady_now(), until);
      std::this_thread::sleep_for(1ms);
    }
    start_held(Client(store_), 0, 1);
    ASSERT_TRUE(board_->wait_for_begun(1, kHanging));
  }
  /// The run has ended then, whether its handler knows or not.
  void cancel() {
    const Client client(store_);
    ASSERT_TRUE(client.cancel(held_id(0), "enough").changed);
    EXPECT_EQ(client.wait(held_id(0), kHanging).status, ExecutionStatus::kCanceled);
  }

  support::TempDir dir_;
  const std::shared_ptr<Provider> real_ = open("sqlite:" + dir_.file("store.db"));
  const std::shared_ptr<Provider> unheard_ = std::make_shared<UnheardClaims>(real_);
  const std::shared_ptr<CancelBoard> board_ = CancelBoard::make(1).value();
  std::shared_ptr<Counted> store_;
  std::unique_ptr<Runtime> runtime_;
};

TEST_F(UnheardClaimsTest, LetAWorkerLearnOfACancelByAsking) {
  hold_one(unheard_, 100ms);
  cancel();
  EXPECT_TRUE(board_->wait_for_awake(1, kHanging));
}

TEST_F(UnheardClaimsTest, TellNobodyWhoDoesNotAsk) {
  hold_one(unheard_, 1min);
  cancel();
  EXPECT_FALSE(board_->wait_for_awake(1, 100ms));
  EXPECT_EQ(store_->checks, 0);
}

TEST_F(UnheardClaimsTest, AreHeardFromTheStoreItself) {
  hold_one(real_, 1min);
  cancel();
  EXPECT_TRUE(board_->wait_for_awake(1, 30s));
}

TEST_F(UnheardClaimsTest, AreNamedInNoAnswer) {
  hold_one(unheard_, 1min);
  CancelOrchestration request;
  request.id = held_id(0);
  const auto answer = store_->cancel_orchestration(std::move(request));
  ASSERT_TRUE(answer.ok()) << answer.error();
  EXPECT_TRUE(answer->changed);
  EXPECT_TRUE(answer->touched.empty());
}

}  // namespace
}  // namespace perdure::bench::unheard_claims_test
