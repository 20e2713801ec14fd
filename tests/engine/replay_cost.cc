#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>
#include <vector>

#include "tests/engine/long_history.h"

/// Prints what a replay costs per event, by the length of the history. Judges no speed; fails only
/// when a history does not replay.
namespace {

using namespace perdure;
using namespace perdure::test;

constexpr std::int64_t kEventsInAll = 400'000;
constexpr int kRounds = 5;

/// Processor time of this process: another one's load does not count.
double nanoseconds_spent() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Nanoseconds for one event: the best round, each over as many histories as make it long enough.
double cost_per_event(const Registry& registry, std::int64_t events) {
  const std::vector<HistoryEvent> history = stepper_history(events / 2);
  const std::int64_t repeats = std::max<std::int64_t>(1, kEventsInAll / events);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    double spent = 0;
    for (std::int64_t i = 0; i < repeats; ++i) {
      std::vector<HistoryEvent> copy = history;
      const double begin = nanoseconds_spent();
      LongRun run(registry, stepper.name(), std::move(copy));
      spent += nanoseconds_spent() - begin;
      if (run.execution().mismatch()) return -1;
    }
    const double cost = spent / static_cast<double>(repeats * events);
    if (round == 0 || cost < best) best = cost;
  }
  return best;
}

}  // namespace

int main() {
  Registry registry;
  add_stepper(registry);
  for (const std::int64_t events : {10, 100, 1'000, 10'000, 100'000}) {
    const double cost = cost_per_event(registry, events);
    if (cost < 0) return 1;
    std::printf("%7lld events: %6.0f ns each\n", static_cast<long long>(events), cost);
  }
  return 0;
}
