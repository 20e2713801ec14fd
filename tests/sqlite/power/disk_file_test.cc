#include "tests/sqlite/power/disk_file.h"

#include <set>

#include <gtest/gtest.h>

namespace perdure::sqlite::power {
namespace {

std::string sectors(char first, char second) {
  return std::string(512, first) + std::string(512, second);
}

TEST(DiskFile, KeepsWhatWasSyncedAndNothingElse) {
  SeededRandom random(1);
  DiskFile file;
  file.write(0, "one");
  EXPECT_EQ(file.after_loss({}, random), "");
  file.sync();
  file.write(1, "xxxx");
  file.truncate(2);
  EXPECT_EQ(file.after_loss({}, random), "one");
  EXPECT_EQ(file.after_loss({.kept = 4}, random), "ox");
  file.sync();
  EXPECT_EQ(file.after_loss({}, random), "ox");
}

TEST(DiskFile, KeepsEachSectorAsSomeWriteLeftIt) {
  SeededRandom random(1);
  DiskFile file;
  file.write(0, sectors('a', 'a'));
  file.sync();
  file.write(0, sectors('b', 'b'));
  file.write(0, sectors('c', 'c'));
  std::set<std::string> seen;
  for (int i = 0; i < 500; ++i) seen.insert(file.after_loss({.kept = 2}, random));
  std::set<std::string> possible;
  for (const char first : {'a', 'b', 'c'}) {
    for (const char second : {'a', 'b', 'c'}) possible.insert(sectors(first, second));
  }
  EXPECT_EQ(seen, possible);
}

}  // namespace
}  // namespace perdure::sqlite::power
