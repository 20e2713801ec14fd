#include "cli/bench/sleepers.h"

#include <algorithm>
#include <functional>
#include <thread>

#include <perdure/perdure.h>

#include "base/clock.h"
#include "cli/bench/in_threads.h"
#include "cli/bench/patience.h"

namespace perdure::bench {

namespace {

constexpr Orchestration<std::int64_t(std::int64_t)> kSleeper{"sleeper"};

constexpr int kStarters = 64;
constexpr std::size_t kPage = 10'000;
constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr int kShareOfLooks = 20;

Task<std::int64_t> run_sleeper(OrchestrationContext& ctx, std::int64_t number) {
  co_await ctx.timer(Sleepers::kSleep);
  co_return number;
}

struct Waiting {
  std::int64_t asleep = 0;
  std::int64_t moving = 0;

  bool operator==(const Waiting&) const = default;
};

Waiting look(const Client& client) {
  Waiting sum;
  for (const QueueState& queue : client.queues().queues) {
    sum.asleep += queue.runs_delayed;
    sum.moving += queue.runs_ready + queue.runs_locked;
  }
  return sum;
}

/// Looks cost as much as there are rows, so the pauses grow with them.
void look_until(const Client& client, const Waiting& wanted) {
  Waiting last;
  auto moved_at = steady_now();
  for (;;) {
    const auto begin = steady_now();
    const Waiting now = look(client);
    const auto end = steady_now();
    if (now == wanted) return;
    if (now != last) moved_at = end;
    if (end - moved_at > kPatience) {
      throw Unavailable("of " + std::to_string(wanted.asleep) + " sleepers that were expected " +
                        std::to_string(now.asleep) + " sleep and " + std::to_string(now.moving) +
                        " wait for a turn: nothing moves any more");
    }
    last = now;
    std::this_thread::sleep_for(
        std::max<std::chrono::nanoseconds>(kLookEvery, kShareOfLooks * (end - begin)));
  }
}

}  // namespace

Registry Sleepers::registry() {
  Registry registry;
  registry.add(kSleeper, run_sleeper);
  return registry;
}

void Sleepers::start(std::int64_t begin, std::int64_t end) {
  const Client client(store_);
  in_threads(kStarters, begin, end, [&client](std::int64_t number) {
    client.start(kSleeper, "sleeper-" + std::to_string(number), number);
  });
  started_ += end - begin;
  look_until(client, {.asleep = started_});
}

void Sleepers::wait_until_awake() {
  look_until(Client(store_), {});
}

std::int64_t Sleepers::asleep() const {
  return look(Client(store_)).asleep;
}

std::int64_t Sleepers::completed() const {
  const Client client(store_);
  const RunFilter filter{.statuses = {ExecutionStatus::kCompleted}};
  std::int64_t count = 0;
  PageOptions page{.limit = kPage};
  do {
    const RunPage runs = client.list(filter, page);
    count += static_cast<std::int64_t>(runs.runs.size());
    page.after = runs.next;
  } while (!page.after.empty());
  return count;
}

}  // namespace perdure::bench
