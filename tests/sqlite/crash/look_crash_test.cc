#include <algorithm>
#include <ostream>

#include <gtest/gtest.h>

#include "tests/sqlite/crash/child_process.h"
#include "tests/sqlite/crash/finish.h"
#include "tests/sqlite/crash/undisturbed.h"

/// The commit of an operation fails, and the process is killed while it looks what became of it.
/// Whatever it has seen: the operation has happened wholly or not at all.
namespace perdure::sqlite::crash::look_crash_test {
namespace {

struct Case {
  Operation operation;
  std::string point;
  bool landed = false;  ///< the commit that failed is in the store

  std::string failpoints() const {
    return (landed ? "sqlite.commit.after=fail;" : "sqlite.commit.before=fail;") + point + "=kill";
  }
};

std::string name_of(const Case& kill) {
  std::string name =
      kill.operation.name + "_at_" + kill.point + (kill.landed ? "_landed" : "_lost");
  std::ranges::replace(name, '.', '_');
  return name;
}

void PrintTo(const Case& kill, std::ostream* out) {
  *out << name_of(kill);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Operation& operation : operations()) {
    for (const std::string& point : points_of("sqlite.look.")) {
      for (const bool landed : {true, false}) all.push_back({operation, point, landed});
    }
  }
  return all;
}

class KilledLooking : public ::testing::TestWithParam<Case> {};

TEST_P(KilledLooking, LeavesAllOrNothing) {
  const Undisturbed expected(GetParam().operation);
  const support::TempDir dir;
  const std::string path = dir.file("store.db");
  ChildProcess child(
      PERDURE_CRASH_CHILD, {GetParam().operation.name, path, "full"}, GetParam().failpoints());
  ASSERT_EQ(describe_end(child.wait_for_end()), "was ended by SIGKILL")
      << "it must not live past " << GetParam().point;

  EXPECT_EQ(integrity(path), "ok");
  EXPECT_EQ(all_rows(path), GetParam().landed ? expected.after : expected.before);
  VirtualClock clock(expected.now);
  const auto store = open_store(path, clock, Durability::kRelaxed);
  finish_everything(*store, clock);
  EXPECT_EQ(violations_at_the_end(path), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Crash, KilledLooking, ::testing::ValuesIn(cases()), [](const auto& kill) {
  return name_of(kill.param);
});

}  // namespace
}  // namespace perdure::sqlite::crash::look_crash_test
