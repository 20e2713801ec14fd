#include <csignal>
#include <future>
#include <iostream>
#include <string>
#include <sys/prctl.h>
#include <thread>
#include <vector>

#include <perdure/client.h>
#include <perdure/runtime.h>
#include <perdure/signals.h>

#include "base/log.h"
#include "tests/processes/marks.h"
#include "tests/processes/updates_code.h"

/// A process that serves a run, one that changes it, or one that asks what became of the changes:
///   perdure_updates_child work STORE MARKS NUMBER   says "ready"; ends by SIGTERM
///   perdure_updates_child send STORE RUN SENDER     one line for each answer: ID DOUBLED POSITION
///   perdure_updates_child find STORE RUN            the same for all updates, by their ids
namespace perdure::test {

namespace {

using namespace std::chrono_literals;

constexpr Activity<int(int)> twice{"twice"};

struct Ledger {
  int entries = 0;
  bool closed = false;
};

Task<int> run_ledger(OrchestrationContext& ctx, Ledger& state) {
  co_await ctx.until([&] { return state.closed; });
  co_return state.entries;
}

Task<Receipt> take_it_in(OrchestrationContext& ctx, Ledger& state, int value) {
  Receipt receipt;
  receipt.doubled = co_await ctx.call(twice, value);
  receipt.position = ++state.entries;
  co_return receipt;
}

/// Handlers hang while the mark says so.
int double_it(WorkerMarks& marks, int value) {
  ++marks.begun;
  const Marked in_flight(marks.handlers);
  while (marks.hold != 0) std::this_thread::sleep_for(1ms);
  return 2 * value;
}

/// `marks` must outlive all that runs it.
Registry ledger_code(WorkerMarks& marks) {
  Registry registry;
  registry.add(ledger, run_ledger)
      .update(take_in, take_it_in)
      .signal(close_ledger, [](Ledger& state) { state.closed = true; })
      .query(entries, [](const Ledger& state) { return state.entries; });
  registry.add(twice, [&marks](int value) { return double_it(marks, value); });
  return registry;
}

int work(const std::string& url, const std::string& path, std::size_t number) {
  Marks marks(path);
  RuntimeOptions options;
  options.max_concurrent_activities = 8;
  options.cancellation_poll_interval = 50ms;
  options.store_poll_interval = 50ms;
  options.process_heartbeat_interval = 50ms;
  options.worker_dead_after = 4s;
  options.shutdown_grace_period = 5s;
  Runtime runtime(open(url), ledger_code(marks.of(number)), options);
  std::cout << "ready" << std::endl;
  run_until_signal(runtime);
  return 0;
}

/// Sends it again under the same id until somebody answers, as callers do.
std::string send_until_answered(const Client& client, const std::string& run, int update) {
  const std::string id = update_id(update);
  for (;;) {
    try {
      const Receipt got = client.update(run, take_in, update, {.update_id = id, .timeout = 200ms});
      return id + " " + std::to_string(got.doubled) + " " + std::to_string(got.position);
    } catch (const Unavailable&) {
    }
  }
}

/// Those of this sender and those that it shares with the one before it, all at once, each twice.
int send(const std::string& url, const std::string& run, int sender) {
  const Client client(open(url));
  std::vector<std::future<std::string>> sending;
  for (int update = 0; update < kUpdates; ++update) {
    const bool mine = update % kSenders == sender;
    const bool shared = (update + 1) % kSenders == sender && update % 3 == 0;
    if (!mine && !shared) continue;
    for (int i = 0; i < 2; ++i) {
      sending.push_back(std::async(std::launch::async, [client, run, update] {
        return send_until_answered(client, run, update);
      }));
    }
  }
  for (auto& each : sending) std::cout << each.get() << std::endl;
  return 0;
}

int find(const std::string& url, const std::string& run) {
  const Client client(open(url));
  for (int update = 0; update < kUpdates; ++update) {
    const std::string id = update_id(update);
    const Receipt got = client.find_update<Receipt>(run, id).wait(0ms);
    std::cout << id << ' ' << got.doubled << ' ' << got.position << std::endl;
  }
  return 0;
}

}  // namespace

}  // namespace perdure::test

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is cut off leaves nothing behind
  perdure::log::set_level(perdure::log::Level::kError);
  const std::string mode = argc > 3 ? argv[1] : "";
  if (mode == "work" && argc == 5)
    return perdure::test::work(argv[2], argv[3], std::stoul(argv[4]));
  if (mode == "send" && argc == 5) return perdure::test::send(argv[2], argv[3], std::stoi(argv[4]));
  if (mode == "find" && argc == 4) return perdure::test::find(argv[2], argv[3]);
  return 2;
}
