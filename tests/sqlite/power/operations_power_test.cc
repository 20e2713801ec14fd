#include <ostream>

#include <gtest/gtest.h>

#include "tests/sqlite/crash/finish.h"
#include "tests/sqlite/crash/operations.h"
#include "tests/sqlite/crash/store_rows.h"
#include "tests/sqlite/power/image.h"

namespace perdure::sqlite::crash {

void PrintTo(const Operation& operation, std::ostream* out) {
  *out << operation.name;
}

}  // namespace perdure::sqlite::crash

/// The power is lost in each writing operation, and after its answer.
namespace perdure::sqlite::power {
namespace {

using crash::all_rows;
using crash::World;

constexpr int kTornImages = 8;

class PowerLoss : public ::testing::TestWithParam<crash::Operation> {
 protected:
  /// Does the operation, and keeps images of some moments before a change of a file, and of its
  /// end.
  void operate(Durability durability) {
    World world(path_, durability);
    const crash::Run run = GetParam().prepare(world);
    before_ = all_rows(path_);
    disk_.before_each_change([this] {
      if (during_.empty() || random_.next() % 3 == 0) {
        during_.push_back(torn_image_of(disk_, 0, random_));
      }
    });
    const Status answer = run(world.store());
    disk_.before_each_change({});
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    after_ = all_rows(path_);
    ASSERT_NE(before_, after_) << "the operation writes nothing";
    answered_.push_back(image_of(disk_, 1));
    for (int i = 0; i < kTornImages; ++i) answered_.push_back(torn_image_of(disk_, 1, random_));
    now_ = world.now();
  }

  ForgetfulDisk disk_;
  const std::string path_ = disk_.file("store.db");
  SeededRandom random_{7};
  std::string before_;
  std::string after_;
  std::vector<Image> during_;
  std::vector<Image> answered_;
  TimePoint now_;
};

TEST_P(PowerLoss, LosesNothingThatWasAnsweredWithFullDurability) {
  ASSERT_NO_FATAL_FAILURE(operate(Durability::kFull));
  ASSERT_FALSE(during_.empty());
  for (const Image& image : during_) {
    const std::string rows = recovered_rows(image);
    EXPECT_TRUE(rows == before_ || rows == after_) << "a part of the operation survived:\n" << rows;
  }
  for (const Image& image : answered_) EXPECT_EQ(recovered_rows(image), after_);

  // Who comes after the power goes on.
  VirtualClock clock(now_);
  const auto store = crash::open_store(answered_[0].path(), clock, Durability::kFull);
  crash::finish_everything(*store, clock);
  EXPECT_EQ(crash::violations_at_the_end(answered_[0].path()), std::vector<std::string>{});
}

TEST_P(PowerLoss, LeavesAWholeStoreWithRelaxedDurability) {
  ASSERT_NO_FATAL_FAILURE(operate(Durability::kRelaxed));
  for (std::vector<Image>* images : {&during_, &answered_}) {
    for (const Image& image : *images) {
      if (recovered_rows(image).empty()) continue;  // made after the last sync
      EXPECT_EQ(crash::violations_at_any_time(image.path()), std::vector<std::string>{});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Power,
                         PowerLoss,
                         ::testing::ValuesIn(crash::operations()),
                         [](const auto& operation) { return operation.param.name; });

}  // namespace
}  // namespace perdure::sqlite::power
