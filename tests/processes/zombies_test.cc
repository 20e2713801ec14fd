#include <gtest/gtest.h>

#include "tests/processes/child.h"
#include "tests/support/temp_dir.h"

namespace perdure::test::process_zombies_test {

namespace {

TEST(ProcessZombies, TooManyOfThemEndTheProcessWithCodeOne) {
  const support::TempDir dir;
  Child child(PERDURE_ZOMBIES_CHILD, {dir.file("db")});
  EXPECT_EQ(child.line(), "not ready");
  EXPECT_EQ(child.end(), "returned 1");
}

}  // namespace

}  // namespace perdure::test::process_zombies_test
