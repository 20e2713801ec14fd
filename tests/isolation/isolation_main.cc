#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/isolation/handlers.h"

namespace perdure::test {
namespace {

constexpr Orchestration<void(std::string)> hanging{"hanging"};

Task<void> run_hanging(OrchestrationContext& ctx, std::string path) {
  co_await ctx.call(deaf, path);
}

/// A worker that is there to be killed: `--worker STORE PATH` runs `deaf` with that path.
int work(const char* store_url, const char* path) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is cut off leaves nothing behind
  Registry registry = isolated_handlers();
  registry.add(hanging, run_hanging);
  const auto store = open(store_url);
  Runtime runtime(store, registry);
  (void)Client(store).start(hanging, "h", std::string(path));
  std::cout << "ready" << std::endl;
  for (;;) ::pause();
}

}  // namespace
}  // namespace perdure::test

int main(int argc, char** argv) {
  if (const char* instead = std::getenv(perdure::test::kOtherMain)) {
    if (std::string_view(instead) == "exit") return 2;
    perdure::test::write_pid(instead, ::getpid());
    for (;;) ::pause();
  }
  perdure::isolated_main(argc, argv, perdure::test::isolated_handlers());
  if (argc == 4 && std::string_view(argv[1]) == "--worker") {
    return perdure::test::work(argv[2], argv[3]);
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
