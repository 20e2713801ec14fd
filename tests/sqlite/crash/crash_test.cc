#include <algorithm>
#include <ostream>

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "provider/sqlite/migrations.h"
#include "provider/sqlite/schema.h"
#include "tests/sqlite/crash/child_process.h"
#include "tests/sqlite/crash/finish.h"
#include "tests/sqlite/crash/operations.h"
#include "tests/sqlite/crash/store_rows.h"
#include "tests/sqlite/crash/undisturbed.h"
#include "tests/support/temp_dir.h"

/// A process is killed at every failpoint of every writing operation. What it was doing has then
/// happened wholly or not at all, and another process goes on.
namespace perdure::sqlite::crash::crash_test {
namespace {

/// One kill: an operation, a point, and how often the point is passed before.
struct Case {
  Operation operation;
  std::string point;
  std::size_t skip = 0;

  bool committed() const {
    return point == "sqlite.commit.after" || point == "sqlite.answer.before";
  }
  std::string failpoints() const { return point + "=kill:skip=" + std::to_string(skip); }
};

/// `ack_two_turns_at_sqlite_entry_after_1`.
std::string name_of(const Case& kill) {
  std::string name = kill.operation.name + "_at_" + kill.point;
  std::ranges::replace(name, '.', '_');
  return kill.operation.entries > 1 ? name + "_" + std::to_string(kill.skip) : name;
}

void PrintTo(const Case& kill, std::ostream* out) {
  *out << name_of(kill);
}

/// Points that no healthy operation passes: look_crash_test.cc and checkpoint_crash_test.cc walk
/// all whose names begin so.
bool is_walked_elsewhere(std::string_view point) {
  return point.starts_with("sqlite.look.") || point.starts_with("sqlite.checkpoint.");
}

/// How often an operation passes a point; the census below holds this to what it really does.
std::size_t passes(const Operation& operation, std::string_view point) {
  if (point == "sqlite.migrate.step" || is_walked_elsewhere(point)) return 0;
  if (point == "sqlite.register.locked") {
    return operation.name.starts_with("register_process") ? 1 : 0;
  }
  if (point.starts_with("sqlite.entry.")) return operation.entries;
  return 1;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Operation& operation : operations()) {
    for (const std::string& point : points_of("sqlite.")) {
      for (std::size_t skip = 0; skip < passes(operation, point); ++skip) {
        all.push_back({operation, point, skip});
      }
    }
  }
  return all;
}

class Killed : public ::testing::TestWithParam<Case> {
 protected:
  /// A child is seen to die at the point.
  void kill_at_the_point(const std::string& durability) {
    ASSERT_TRUE(expected_.answer.ok()) << expected_.answer.error().message;
    ASSERT_NE(expected_.before, expected_.after) << "the operation writes nothing";
    ChildProcess child(PERDURE_CRASH_CHILD,
                       {GetParam().operation.name, path_, durability},
                       GetParam().failpoints());
    ASSERT_EQ(describe_end(child.wait_for_end()), "was ended by SIGKILL")
        << "it must not live past " << GetParam().point;
  }

  void expect_all_or_nothing() {
    EXPECT_EQ(integrity(path_), "ok");
    EXPECT_EQ(all_rows(path_), GetParam().committed() ? expected_.after : expected_.before);
  }

  /// The kernel has released what the dead held; answers their epochs.
  static std::vector<Epoch> the_dead(Provider& store) {
    std::vector<Epoch> epochs;
    for (const ProcessInfo& process : value_of(store.list_processes(), "list")) {
      EXPECT_TRUE(process.lock_released) << "epoch " << process.epoch.value;
      epochs.push_back(process.epoch);
    }
    return epochs;
  }

  const support::TempDir dir_;
  const std::string path_ = dir_.file("store.db");
  const Undisturbed expected_{GetParam().operation};
};

TEST_P(Killed, LeavesAllOrNothingToTheNextWhoOpensTheStore) {
  ASSERT_NO_FATAL_FAILURE(kill_at_the_point("full"));
  expect_all_or_nothing();
  VirtualClock clock(expected_.now);
  const auto store = open_store(path_, clock, Durability::kRelaxed);
  const std::vector<Epoch> dead = the_dead(*store);

  // The caller got no answer and asks again: nothing is lost, nothing happens twice.
  if (!GetParam().committed() || GetParam().operation.repeatable) {
    const Status again = expected_.run(*store);
    const bool refused = !again.ok() && (again.code() == ErrorCode::kLockLost ||
                                         again.code() == ErrorCode::kNotFound);
    EXPECT_TRUE(again.ok() || (GetParam().committed() && refused)) << again.error().message;
    EXPECT_EQ(all_rows(path_), expected_.after);
  }

  for (const Epoch epoch : dead) {
    expect_ok(status_of(store->take_over({.epoch = epoch})), "take over");
  }
  finish_everything(*store, clock);
  EXPECT_EQ(violations_at_the_end(path_), std::vector<std::string>{});
}

TEST_P(Killed, LeavesAllOrNothingAndLocksThatExpireToThoseWhoHaveItOpen) {
  VirtualClock clock;
  const auto store = open_store(path_, clock, Durability::kRelaxed);
  ASSERT_NO_FATAL_FAILURE(kill_at_the_point("relaxed"));
  expect_all_or_nothing();
  static_cast<void>(the_dead(*store));
  clock.advance(expected_.now - clock.now());
  finish_everything(*store, clock);
  EXPECT_EQ(violations_at_the_end(path_), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Crash, Killed, ::testing::ValuesIn(cases()), [](const auto& kill) {
  return name_of(kill.param);
});

TEST(CrashCases, WalkEveryPassOfEveryPoint) {
  for (const Operation& operation : operations()) {
    const Undisturbed undisturbed(operation);
    for (const std::string& point : points_of("sqlite.")) {
      EXPECT_EQ(static_cast<std::size_t>(failpoint::hits(point)), passes(operation, point))
          << operation.name << " at " << point;
    }
  }
}

TEST(CrashCases, LeaveNoPointOfTheTableUnvisited) {
  const support::TempDir dir;
  failpoint::set_counting(true);
  for (const Operation& operation : operations()) {
    World world(dir.file(operation.name), Durability::kRelaxed);
    const auto run = operation.prepare(world);
    expect_ok(run(world.store()), operation.name.c_str());
  }
  failpoint::set_counting(false);
  for (const std::string& point : points_of("sqlite.")) {
    EXPECT_TRUE(is_walked_elsewhere(point) || failpoint::hits(point) > 0) << point;
  }
}

int version_of(const std::string& path) {
  const auto db = Connection::open(path, Access::kReadOnly);
  return stored_version(*db);
}

class KilledMakingAStore : public ::testing::TestWithParam<std::size_t> {};

TEST_P(KilledMakingAStore, LeavesNothingOfItAndTheNextMakesIt) {
  const support::TempDir dir;
  const std::string path = dir.file("store.db");
  ChildProcess child(PERDURE_CRASH_CHILD,
                     {"make_store", path, "full"},
                     "sqlite.migrate.step=kill:skip=" + std::to_string(GetParam()));
  ASSERT_EQ(describe_end(child.wait_for_end()), "was ended by SIGKILL");

  EXPECT_EQ(integrity(path), "ok");
  EXPECT_EQ(all_rows(path), "");
  World world(path, Durability::kRelaxed);
  world.start("a");
  finish_everything(world.store(), world.clock());
  EXPECT_EQ(violations_at_the_end(path), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Crash,
                         KilledMakingAStore,
                         ::testing::Range(std::size_t{0}, schema_migrations().size()),
                         [](const auto& kill) { return "step_" + std::to_string(kill.param); });

/// At a step behind that of the first version.
class KilledUpgradingAStore : public ::testing::TestWithParam<std::size_t> {};

TEST_P(KilledUpgradingAStore, LeavesItAsItWasAndTheNextUpgradesIt) {
  const support::TempDir dir;
  const std::string path = dir.file("store.db");
  ChildProcess child(PERDURE_CRASH_CHILD,
                     {"upgrade_store", path, "full"},
                     "sqlite.migrate.step=kill:skip=" + std::to_string(GetParam()));
  ASSERT_EQ(describe_end(child.wait_for_end()), "was ended by SIGKILL");

  EXPECT_EQ(integrity(path), "ok");
  EXPECT_EQ(version_of(path), 1);
  const std::string before = all_rows(path);
  EXPECT_NE(before.find("request_id='old'"), std::string::npos) << before;
  EXPECT_EQ(before.find("expires_at="), std::string::npos) << "a column of the next version";

  World world(path, Durability::kRelaxed);
  EXPECT_EQ(version_of(path), schema_migrations().back().version);
  const std::string after = all_rows(path);
  EXPECT_NE(after.find("request_id='old'"), std::string::npos) << after;
  EXPECT_NE(after.find("expires_at=86400000000"), std::string::npos) << after;
  world.start("a");
  world.ask("a", RequestKind::kUpdate, "u");
  finish_everything(world.store(), world.clock());
  EXPECT_EQ(violations_at_the_end(path), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Crash,
                         KilledUpgradingAStore,
                         ::testing::Range(std::size_t{0}, schema_migrations().size() - 1),
                         [](const auto& kill) { return "step_" + std::to_string(kill.param); });

TEST(CrashCases, MakingAStorePassesAPointBehindEachMigration) {
  const support::TempDir dir;
  failpoint::set_counting(true);
  const World world(dir.file("store.db"), Durability::kRelaxed);
  failpoint::set_counting(false);
  EXPECT_EQ(static_cast<std::size_t>(failpoint::hits("sqlite.migrate.step")),
            schema_migrations().size());
}

}  // namespace
}  // namespace perdure::sqlite::crash::crash_test
