#include "cli/bench/closed_loop.h"

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "cli/bench/check_run.h"
#include "cli/bench/starters.h"

namespace perdure::bench {

namespace {

using std::chrono::steady_clock;

/// So many starts can share a commit.
constexpr std::int64_t kMostStarters = 32;
constexpr std::size_t kEndsAtOnce = 10'000;
constexpr std::chrono::milliseconds kBetweenLooks{1};
constexpr std::chrono::seconds kStuck{60};

}  // namespace

const LoopedRun kFanoutRun{kFanout, &fanout_of, kFanoutWidth, 2};
const LoopedRun kChainRun{kChain, &chain_of, kChainLength, kChainLength + 1};

ClosedLoop::ClosedLoop(EngineBench& bench, const LoopedRun& run, std::int64_t in_flight)
    : bench_(bench),
      run_(run),
      in_flight_(in_flight),
      client_(bench.client()),
      last_end_(steady_now()) {}

Result<ClosedLoop::Window> ClosedLoop::run(std::chrono::nanoseconds length) {
  Window window;
  last_end_ = steady_now();
  Starters starters(static_cast<int>(std::min(in_flight_, kMostStarters)), [this] { start_one(); });
  starters.allow(in_flight_);
  for (std::int64_t filled = 0; filled < in_flight_;) {
    PERDURE_ASSIGN_OR_RETURN(const std::int64_t ended, look(nullptr));
    starters.check();
    starters.allow(ended);
    filled += ended;
  }
  const auto begin = last_end_;
  while (window.runs.units == 0 || steady_now() < begin + length) {
    PERDURE_ASSIGN_OR_RETURN(const std::int64_t ended, look(&window.latencies));
    starters.check();
    starters.allow(ended);
    window.runs.units += ended;
  }
  window.runs.spent = last_end_ - begin;
  starters.finish();
  while (!open_.empty()) PERDURE_RETURN_IF_ERROR(look(nullptr));
  return window;
}

void ClosedLoop::check_results() {
  for (std::int64_t number = 1; number <= started_; ++number) {
    check_run(client_.status(id_of(number)), run_.result_of(number), bench_.report());
  }
}

std::string ClosedLoop::id_of(std::int64_t number) const {
  return std::string(run_.orchestration.name()) + "-" + std::to_string(number);
}

void ClosedLoop::start_one() {
  std::int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    number = ++started_;
    // Before the call: its end may be seen before the call returns.
    open_.emplace(id_of(number), steady_now());
  }
  client_.start(run_.orchestration, id_of(number), number);
}

/// Answers how many runs have ended since the last look.
Result<std::int64_t> ClosedLoop::look(Latencies* latencies) {
  std::this_thread::sleep_for(kBetweenLooks);
  PERDURE_ASSIGN_OR_RETURN(const ChangePage page, bench_.store()->read_changes(seen_, kEndsAtOnce));
  if (page.missed || !page.problems.empty()) return corrupt("changes of the store are missing");
  const auto now = steady_now();
  const std::int64_t ended = note_ends(page, now, latencies);
  if (ended > 0) last_end_ = now;
  const auto all_activities = in_flight_ * run_.activities * bench_.options().activity_time;
  if (now - last_end_ > kStuck + all_activities) {
    return unavailable("no run of '" + std::string(run_.orchestration.name()) +
                       "' has ended for a minute");
  }
  return ended;
}

std::int64_t ClosedLoop::note_ends(const ChangePage& page,
                                   steady_clock::time_point now,
                                   Latencies* latencies) {
  const std::lock_guard lock(mutex_);
  std::int64_t ended = 0;
  for (const Change& change : page.changes) {
    seen_ = change.seq;
    if (!is_terminal(change.status)) continue;
    const auto found = open_.find(change.id);
    if (found == open_.end()) continue;
    if (latencies != nullptr) latencies->add(now - found->second);
    open_.erase(found);
    ++ended;
  }
  return ended;
}

}  // namespace perdure::bench
