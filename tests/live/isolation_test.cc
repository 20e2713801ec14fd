#include "tests/live/live_fixture.h"

/// In a program that does not call isolated_main; tests/isolation has one that does.
namespace perdure::test::isolation_test {

namespace {

constexpr Activity<int()> render{"render"};

using LiveIsolation = Live;

TEST_F(LiveIsolation, IsRefusedBeforeAnythingRuns) {
  registry_.add(render, [] { return 1; }, {.isolation = Isolation::kProcess});
  try {
    run();
    FAIL() << "it runs";
  } catch (const InvalidArgument& refused) {
    EXPECT_STREQ(refused.what(),
                 "activity 'render' is to run in a process of its own: call "
                 "pd::isolated_main(argc, argv, registry) first in main");
  }
}

}  // namespace

}  // namespace perdure::test::isolation_test
