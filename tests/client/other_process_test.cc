#include "base/clock.h"
#include "tests/client/client_fixture.h"
#include "tests/conformance/conformance.h"
#include "tests/conformance/peer.h"

namespace perdure::test::other_process_test {

namespace {

using conformance::Peer;

inline constexpr Orchestration<Json()> flow{conformance::kFlow};

/// Runs that a real second process ends.
class OtherProcess : public ClientOnFile {
 protected:
  std::unique_ptr<Peer> spawn() {
    // Its clock stands still: at a time when all that the test starts is due.
    auto peer = Peer::spawn(PERDURE_PEER, path_, store_->clock().now() + 1h);
    peer->register_process();
    return peer;
  }
  perdure::Run<Json> start(const std::string& id) {
    return client_.start(
        flow, id, {.version = conformance::kVersion, .queue = conformance::kQueue});
  }
};

TEST_F(OtherProcess, ThatEndsARunWakesTheWait) {
  auto peer = spawn();
  const auto run = start("a");
  auto waiting = std::async(std::launch::async, [run] { return run.outcome(kPatience).ok(); });
  EXPECT_EQ(peer->drain_instances(), 1);
  EXPECT_TRUE(waiting.get());
}

TEST_F(OtherProcess, ThatEndsRunsOneAfterTheOtherIsSeenEachTime) {
  auto peer = spawn();
  for (int i = 0; i < 10; ++i) {
    const auto run = start(std::to_string(i));
    auto waiting = std::async(std::launch::async, [run] { return run.outcome(kPatience).ok(); });
    EXPECT_EQ(peer->drain_instances(), 1);
    EXPECT_TRUE(waiting.get()) << i;
  }
}

TEST_F(OtherProcess, ThatStartedARunIsSeenByTheList) {
  auto peer = spawn();
  peer->start_instance("theirs");
  EXPECT_EQ(client_.list().runs.at(0).id, "theirs");
  EXPECT_TRUE(client_.cancel("theirs", "ours now").changed);
  EXPECT_EQ(client_.wait("theirs", kPatience).status, ExecutionStatus::kCanceled);
}

}  // namespace

}  // namespace perdure::test::other_process_test
