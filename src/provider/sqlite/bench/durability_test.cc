#include "provider/sqlite/bench/durability.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

std::unique_ptr<Provider> open_at(const std::string& path, Durability durability) {
  auto store = open({.path = path, .durability = durability});
  EXPECT_TRUE(store.ok()) << store;
  return std::move(store).value();
}

TEST(ReadDurability, TellsWhatTheStoreWasOpenedWith) {
  const support::TempDir dir;
  EXPECT_EQ(*read_durability(*open_at(dir.file("full.db"), Durability::kFull)), Durability::kFull);
  EXPECT_EQ(*read_durability(*open_at(dir.file("relaxed.db"), Durability::kRelaxed)),
            Durability::kRelaxed);
}

}  // namespace
}  // namespace perdure::sqlite
