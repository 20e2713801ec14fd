#include <atomic>
#include <latch>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "cli/bench/turn_loop.h"

namespace perdure::bench {

namespace {

/// Single turns from several threads, each taking the next one that is left.
class Crew {
 public:
  Crew(TurnLoop& loop, std::vector<TurnCommit>& turns, int threads)
      : loop_(loop), turns_(turns), ready_(threads + 1) {}

  Result<Rate> run(int threads, std::chrono::nanoseconds at_most) {
    std::vector<std::thread> crew;
    crew.reserve(static_cast<std::size_t>(threads));
    for (int i = 0; i < threads; ++i) {
      crew.emplace_back([this, at_most] { work(at_most); });
    }
    ready_.arrive_and_wait();
    const auto begin = steady_now();
    for (std::thread& thread : crew) thread.join();
    if (problem_) return *problem_;
    return Rate{done_, steady_now() - begin};
  }

 private:
  void work(std::chrono::nanoseconds at_most) {
    ready_.arrive_and_wait();
    const auto end = steady_now() + at_most;
    while (steady_now() < end && !stop_) {
      const std::size_t mine = next_++;
      if (mine >= turns_.size()) return;
      const Status status = loop_.commit(turns_, mine, 1);
      if (!status.ok()) return fail(status.error());
      ++done_;
    }
  }

  void fail(const Error& error) {
    const std::lock_guard lock(mutex_);
    problem_ = error;
    stop_ = true;
  }

  TurnLoop& loop_;
  std::vector<TurnCommit>& turns_;
  std::latch ready_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::int64_t> done_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::optional<Error> problem_;  // guarded by mutex_
};

}  // namespace

TurnLoop::Committer in_batches(TurnLoop& loop, std::size_t batch) {
  return [&loop, batch](std::vector<TurnCommit>& turns,
                        std::chrono::nanoseconds at_most) -> Result<Rate> {
    Rate rate;
    std::size_t at = 0;
    while (at < turns.size() && rate.spent < at_most) {
      const std::size_t count = std::min(batch, turns.size() - at);
      const auto begin = steady_now();
      PERDURE_RETURN_IF_ERROR(loop.commit(turns, at, count));
      rate.add({static_cast<std::int64_t>(count), steady_now() - begin});
      at += count;
    }
    return rate;
  };
}

TurnLoop::Committer from_threads(TurnLoop& loop, int threads) {
  return [&loop, threads](std::vector<TurnCommit>& turns, std::chrono::nanoseconds at_most) {
    return Crew(loop, turns, threads).run(threads, at_most);
  };
}

}  // namespace perdure::bench
