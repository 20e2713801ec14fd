#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <thread>

#include <perdure/runtime.h>
#include <perdure/signals.h>

#include "base/failpoint.h"
#include "base/log.h"
#include "tests/processes/dying_store.h"
#include "tests/processes/mixed_code.h"

/// A worker that is killed, stopped and starved: `perdure_process_worker STORE MARKS NUMBER`. Says
/// "ready" when its runtime runs; ends by SIGTERM.
namespace perdure::test {
namespace {

using namespace std::chrono_literals;

constexpr const char* kBegin = "sqlite.begin.before";
constexpr const char* kCommit = "sqlite.commit.before";
constexpr const char* kCommitted = "sqlite.commit.after";

RuntimeOptions short_intervals(int max_attempts) {
  RuntimeOptions options;
  options.max_attempts = max_attempts;
  options.max_concurrent_activities = 16;
  options.cancellation_poll_interval = 50ms;
  options.store_poll_interval = 50ms;
  options.process_heartbeat_interval = 50ms;
  options.worker_dead_after = 4s;
  options.shutdown_grace_period = 5s;
  return options;
}

/// Stops the whole process where its store is about to begin a write, outside of any transaction.
/// Goes on after SIGCONT.
void stop_before_write() {
  failpoint::arm(kBegin, {.kind = failpoint::Action::Kind::kPause});
  if (failpoint::wait_until_paused(kBegin, 60s)) std::raise(SIGSTOP);
  failpoint::disarm(kBegin);
}

void fail_always(const char* point, ErrorCode code) {
  failpoint::arm(point, {.error = {code, "injected"}, .times = -1});
}

/// Where writes fail by an order; nullptr when they do not.
const char* failing_point(Order order) {
  switch (order) {
    case Order::kFailBegins:
      return kBegin;
    case Order::kFailCommits:
      return kCommit;
    case Order::kLoseAnswers:
      return kCommitted;
    default:
      return nullptr;
  }
}

void obey(Order order) {
  failpoint::disarm_all();
  switch (order) {
    case Order::kNothing:
    case Order::kDieInCascade:
    case Order::kDieBehindCascade:
      return;
    case Order::kStopBeforeWrite:
      return stop_before_write();
    case Order::kFailBegins:
    case Order::kFailCommits:
      return fail_always(failing_point(order), ErrorCode::kUnavailable);
    case Order::kLoseAnswers:
      return fail_always(failing_point(order), ErrorCode::kCommitUnknown);
  }
}

/// Follows the orders of the test.
void listen(WorkerMarks& marks, const std::stop_token& stop) {
  Order last = Order::kNothing;
  while (!stop.stop_requested()) {
    const Order order = marks.order;
    if (order != last) {
      obey(order);
      last = order;
      marks.refused = 0;
      marks.obeyed = order;
    }
    if (const char* point = failing_point(last)) marks.refused = failpoint::hits(point);
    std::this_thread::sleep_for(1ms);
  }
}

/// A worker that dies by the order that it was born with.
int run_until_death(const std::shared_ptr<Provider>& store,
                    const Registry& registry,
                    const RuntimeOptions& options,
                    Order order) {
  Runtime runtime(std::make_shared<DyingStore>(*store, order), registry, options);
  run_until_signal(runtime);
  return 1;
}

int run(const std::string& url, const std::string& path, std::size_t number, int max_attempts) {
  Marks marks(path);
  WorkerMarks& mine = marks.of(number);
  const Registry registry = mixed_code(mine);
  const auto store = open(url);
  const RuntimeOptions options = short_intervals(max_attempts);
  const Order at_birth = mine.order;
  if (DyingStore::is_meant(at_birth)) return run_until_death(store, registry, options, at_birth);
  Runtime runtime(store, registry, options);
  const std::jthread listener([&](const std::stop_token& stop) { listen(mine, stop); });
  std::cout << "ready" << std::endl;
  run_until_signal(runtime);
  return 0;
}

}  // namespace
}  // namespace perdure::test

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is cut off leaves nothing behind
  perdure::log::set_level(perdure::log::Level::kError);
  return perdure::test::run(argv[1], argv[2], std::stoul(argv[3]), std::stoi(argv[4]));
}
