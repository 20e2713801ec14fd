// Activities in processes of their own: one crashes, one hangs, and nobody else is hurt.

#include <cstdlib>
#include <iostream>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

constexpr pd::Activity<std::string(std::string)> decode{"decode"};
constexpr pd::Orchestration<std::string(std::string)> preview{"preview"};

// [handler]
std::string decode_image(std::string file) {  // a library that others wrote
  if (file == "broken.png") std::abort();
  for (volatile bool stuck = file == "endless.png"; stuck;) {
  }
  return "a preview of " + file;
}
// [/handler]

pd::Task<std::string> run_preview(pd::OrchestrationContext& ctx, std::string file) {
  try {
    co_return co_await ctx.call(decode, file, {.start_to_close = 2s});
  } catch (const pd::ActivityFailed& failed) {
    co_return failed.failure().type + ": " + failed.failure().message;
  }
}

// [main]
int main(int argc, char** argv) {
  pd::Registry registry;
  registry.add(decode, decode_image, {.isolation = pd::Isolation::kProcess});
  registry.add(preview, run_preview);
  pd::isolated_main(argc, argv, registry);  // in the process of an attempt it does not return

  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");
  pd::RuntimeOptions options;
  options.activity_cancellation_grace_period = 100ms;  // then it is killed
  pd::Runtime runtime(store, registry, options);
  // [/main]
  pd::Client client(store);
  for (const char* file : {"tea.png", "broken.png", "endless.png"}) {
    std::cout << client.start(preview, file, file).wait(60s) << '\n';
  }
}

// Prints:
//   a preview of tea.png
//   process_died: the process of the activity ended by signal 6 (Aborted)
//   timeout: the attempt took longer than its start_to_close of 2000 ms
