#include "provider/sqlite/bench/durability.h"

#include <gtest/gtest.h>

#include "provider/sqlite/bench/open_at_test.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

TEST(ReadDurability, TellsWhatTheStoreWasOpenedWith) {
  const support::TempDir dir;
  EXPECT_EQ(*read_durability(*open_at(dir.file("full.db"), Durability::kFull)), Durability::kFull);
  EXPECT_EQ(*read_durability(*open_at(dir.file("relaxed.db"), Durability::kRelaxed)),
            Durability::kRelaxed);
}

}  // namespace
}  // namespace perdure::sqlite
