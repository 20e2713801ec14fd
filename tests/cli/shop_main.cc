#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <perdure/cli.h>

#include "base/random.h"
#include "provider/open/open.h"
#include "provider/token_mint.h"
#include "replayer/history_json.h"
#include "runtime/activity_worker.h"
#include "runtime/frame_cache.h"
#include "runtime/histories.h"
#include "runtime/orchestration_dispatcher.h"
#include "tests/cli/shop_code.h"

/// A program with orchestrations of its own, for the tests of the command line:
///
///     perdure_test_shop fill STORE         makes a store and runs the code of before in it
///     perdure_test_shop export STORE ID    prints the history of a run, first execution
///     perdure_test_shop before ..          the command line with the code of before
///     perdure_test_shop after ..           with that of after
///     perdure_test_shop empty ..           with none
namespace perdure::test {
namespace {

void start(Provider& store,
           const std::string& id,
           std::string_view name,
           const std::string& input = "null") {
  StartOrchestration request;
  request.id = id;
  request.name = std::string(name);
  request.input = input;
  const auto started = store.start_orchestration(std::move(request));
  if (!started.ok()) throw std::runtime_error(started.error().message);
}

void run_until_idle(Provider& store, const Registry& registry) {
  TokenMint tokens(store.register_process({.host = "test"}).value());
  SeededRandom random(1);
  runtime::Attempts attempts;
  runtime::RealSleeper sleeper;
  runtime::FrameCache frames({});
  runtime::OrchestrationDispatcher dispatcher(
      {store, tokens, *registry.table(), frames, attempts, random}, {});
  runtime::ActivityWorker worker({store, tokens, *registry.table(), attempts, sleeper, random}, {});
  while (dispatcher.poll_once() || worker.poll_once()) {
  }
}

void fill(const std::string& url) {
  const auto store = open_provider(url).value();
  start(*store, "order-1", checkout.name(), "100");
  start(*store, "price-1", pricing.name(), "5");
  start(*store, "count-1", counter.name(), "1");
  start(*store, "wait-1", waiter.name());
  start(*store, "ruled-1", ruled.name());  // its first turn settles the version
  start(*store, "foreign-1", foreign.name());
  run_until_idle(*store, code_before());
  start(*store, "untouched-1", checkout.name(), "1");  // has had no turn
}

void print_history(const std::string& url, const std::string& id) {
  const auto store = open_provider_for_reading(url).value();
  const InstanceInfo run = store->get_instance(id).value();
  const ExecutionInfo first = store->get_execution(id, ExecutionNo{1}).value();
  replayer::RecordedHistory history;
  history.instance_id = id;
  history.name = run.name;
  history.queue = run.queue;
  history.events =
      runtime::read_histories(*store, {{run.key, first.execution, first.last_event}}, 2)
          .front()
          .value();
  std::cout << replayer::to_history_json(history);
}

int run(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "before") return cli_main(argc - 1, argv + 1, code_before());
  if (what == "after") return cli_main(argc - 1, argv + 1, code_after());
  if (what == "empty") return cli_main(argc - 1, argv + 1, {});
  if (what == "fill" && argc == 3) {
    fill(argv[2]);
  } else if (what == "export" && argc == 4) {
    print_history(argv[2], argv[3]);
  } else {
    return 100;
  }
  return 0;
}

}  // namespace
}  // namespace perdure::test

int main(int argc, char** argv) {
  return perdure::test::run(argc, argv);
}
