#include <gtest/gtest.h>
#include <sqlite3.h>

#include "tests/sqlite/crash/store_rows.h"
#include "tests/sqlite/crash/world.h"
#include "tests/sqlite/power/image.h"

/// The power is lost at random moments of random sequences of calls, with checkpoints among them.
namespace perdure::sqlite::power {
namespace {

using crash::all_rows;
using crash::Turn;
using crash::World;
using namespace std::chrono_literals;

/// Calls one after the other, the rows of the store after each, and images in between.
class Sequence {
 public:
  Sequence(ForgetfulDisk& disk, Durability durability, std::uint64_t seed)
      : disk_(disk), random_(seed), path_(disk.file("store.db")) {
    states_ = {"", rows_of_a_new_store()};
    world_ = std::make_unique<World>(path_, durability);
    acknowledged();
    disk_.before_each_change([this] {
      if (random_.next() % 4 == 0) images_.push_back(torn_image_of(disk_, last(), random_));
    });
  }

  ~Sequence() { disk_.before_each_change({}); }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    // Nobody writes beside the test any more.
    world_->close();
    disk_.before_each_change({});
  }

  const std::vector<Image>& images() const { return images_; }

  /// The newest state, of those that the image may be in, that these are the rows of; nullopt when
  /// they are no state at all.
  std::optional<std::size_t> state_of(const Image& image, const std::string& rows) const {
    for (std::size_t state = std::min(image.acknowledged + 1, last()) + 1; state-- > 0;) {
      if (states_[state] == rows) return state;
    }
    return std::nullopt;
  }

 private:
  static std::string rows_of_a_new_store() {
    const support::TempDir dir;
    VirtualClock clock;
    crash::open_store(dir.file("store.db"), clock, Durability::kRelaxed);
    return all_rows(dir.file("store.db"));
  }

  std::size_t last() const { return states_.size() - 1; }

  void acknowledged() {
    // Not in the hook of the reads that follow.
    images_.push_back(image_of(disk_, last() + 1));
    states_.push_back(all_rows(path_));
    images_.push_back(torn_image_of(disk_, last(), random_));
  }

  void step() {
    switch (random_.next() % 8) {
      case 0:
      case 1:
        world_->start("r" + std::to_string(++runs_));
        return acknowledged();
      case 2:
      case 3:
        return take_turns();
      case 4:
        return do_work();
      case 5:
        return raise();
      case 6:
        return cancel();
      default:
        return checkpoint();
    }
  }

  void take_turns() {
    const auto fetched = crash::value_of(
        world_->store().fetch_orchestration_items(world_->fetch_request(2)), "fetch");
    acknowledged();
    for (const OrchestrationItem& item : fetched.items) {
      Turn turn(item);
      if (item.cancel_requested_at) {
        turn.end(ExecutionStatus::kCanceled);
      } else if (random_.next() % 4 == 0) {
        turn.end(ExecutionStatus::kCompleted);
      } else {
        turn.event(EventKind::kSideEffectRecorded, {}, std::string(random_.next() % 9'000, 'x'));
        turn.work();
        turn.work();
      }
      world_->commit(turn);
      acknowledged();
    }
  }

  void do_work() {
    const auto claimed =
        crash::value_of(world_->store().fetch_work_items(world_->claim_request(3)), "claim");
    acknowledged();
    AckWorkItems batch;
    for (const WorkItem& item : claimed.items) {
      batch.entries.push_back({.id = item.id, .lock = item.lock});
      batch.entries.back().outcome.result = "\"done\"";
    }
    crash::expect_ok(crash::status_of(world_->store().ack_work_items(std::move(batch))), "ack");
    acknowledged();
  }

  std::string any_run() { return "r" + std::to_string(random_.next() % (runs_ + 1)); }

  void raise() {
    RaiseEvent request;
    request.id = any_run();
    request.name = "go";
    request.payload = "1";
    request.buffer_for = 1h;
    crash::expect_ok(crash::status_of(world_->store().raise_event(request)), "raise");
    acknowledged();
  }

  void cancel() {
    CancelOrchestration request;
    request.id = any_run();
    const auto answer = world_->store().cancel_orchestration(request);
    if (!answer.ok() && answer.code() != ErrorCode::kNotFound) crash::value_of(answer, "cancel");
    acknowledged();
  }

  void checkpoint() {
    constexpr std::array kModes{
        SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_RESTART, SQLITE_CHECKPOINT_TRUNCATE};
    auto db = Connection::open(path_, Access::kReadWrite);
    db->set_busy_timeout(30s);
    db->exec("PRAGMA schema_version");
    const int mode = kModes.at(random_.next() % kModes.size());
    const int result = sqlite3_wal_checkpoint_v2(db->raw(), nullptr, mode, nullptr, nullptr);
    ASSERT_EQ(result, SQLITE_OK) << sqlite3_errstr(result);
    images_.push_back(image_of(disk_, last()));
  }

  ForgetfulDisk& disk_;
  // Of the writer's thread while a call is under way, else of the test's.
  SeededRandom random_;
  const std::string path_;
  std::vector<std::string> states_;
  std::vector<Image> images_;
  std::unique_ptr<World> world_;
  std::uint64_t runs_ = 0;
};

/// How many images lack something that was answered; each must be some state that the store was in.
int images_with_losses(const Sequence& sequence) {
  int losses = 0;
  for (const Image& image : sequence.images()) {
    const std::string rows = recovered_rows(image);
    const auto state = sequence.state_of(image, rows);
    EXPECT_TRUE(state.has_value())
        << "after " << image.acknowledged << " answers this is no state that the store was in:\n"
        << rows;
    if (state && *state < image.acknowledged) ++losses;
  }
  return losses;
}

class PowerLossInSequences : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(PowerLossInSequences, LosesNothingThatWasAnsweredWithFullDurability) {
  ForgetfulDisk disk;
  Sequence sequence(disk, Durability::kFull, GetParam());
  sequence.run(30);
  EXPECT_EQ(images_with_losses(sequence), 0);
}

TEST_P(PowerLossInSequences, LosesOnlyTheLastAnswersWithRelaxedDurability) {
  ForgetfulDisk disk;
  Sequence sequence(disk, Durability::kRelaxed, GetParam());
  sequence.run(30);
  // And does lose some: else the disk would not forget, and the test above show nothing.
  EXPECT_GT(images_with_losses(sequence), 0);
}

TEST_P(PowerLossInSequences, IsSeenOnADiskThatIgnoresSyncs) {
  ForgetfulDisk disk(ForgetfulDisk::Syncs::kAreIgnored);
  Sequence sequence(disk, Durability::kFull, GetParam());
  sequence.run(5);
  int lost = 0;
  for (const Image& image : sequence.images()) {
    if (image.just_synced && recovered_rows(image).empty()) ++lost;
  }
  EXPECT_GT(lost, 0);
}

INSTANTIATE_TEST_SUITE_P(Power, PowerLossInSequences, ::testing::Range<std::uint64_t>(1, 7));

}  // namespace
}  // namespace perdure::sqlite::power
