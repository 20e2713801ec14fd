#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "cli/bench/rate.h"
#include "cli/bench/report.h"
#include "provider/provider.h"
#include "provider/token_mint.h"

namespace perdure::bench {

/// A closed loop of the contract's calls: instances are locked, commit a turn that makes a work
/// row, the row is claimed and settled, which wakes the instance again. After some turns they
/// complete and fresh ones are started, so that histories stay short as they are in real life. Only
/// the commits and the claims are timed; wrong answers are counted in the report.
///
/// Threading: one thread; a committer may use others while it runs.
class TurnLoop {
 public:
  static constexpr std::int64_t kTurnsEach = 4;

  /// Commits turns from the front until they are done or the time is over; answers how many and how
  /// long it took.
  using Committer =
      std::function<Result<Rate>(std::vector<TurnCommit>& turns, std::chrono::nanoseconds at_most)>;

  /// What a window found.
  struct Window {
    Rate turns;
    Rate claims;
  };

  /// The store has a writer thread; it and the report must outlive the loop.
  TurnLoop(Provider& store, TokenMint& mint, Report& report, std::int64_t instances)
      : store_(store), mint_(mint), report_(report), instances_(instances) {}

  /// Runs until `length` was spent in commits; claims are made `claim_batch` at a time.
  Result<Window> run(const Committer& committer,
                     std::size_t claim_batch,
                     std::chrono::nanoseconds length);

  /// Commits `turns[from .. from+count)` in one call and counts what is wrong with the answers. Any
  /// thread.
  Status commit(std::vector<TurnCommit>& turns, std::size_t from, std::size_t count);

  /// Lets all instances complete.
  Status finish();

  std::int64_t started() const { return started_; }
  /// Committed turns but the last ones of each instance.
  std::int64_t turns() const { return turns_; }

 private:
  std::size_t all() const { return static_cast<std::size_t>(instances_); }
  Status start_all();
  Result<std::vector<OrchestrationItem>> lock_all();
  Status commit_rest(std::vector<TurnCommit>& turns, std::size_t from);
  Result<Rate> claim_all(std::size_t batch, std::chrono::nanoseconds at_most);
  Result<std::size_t> claim(std::size_t count);
  Status settle_all();
  void check(const OrchestrationItem& item);
  void wrong(const std::string& problem);

  Provider& store_;
  TokenMint& mint_;
  Report& report_;
  const std::int64_t instances_;
  std::int64_t started_ = 0;
  std::int64_t turns_ = 0;
  std::optional<std::int64_t> had_turns_;  // each of the instances at work; unset: there are none
  std::vector<WorkItem> claimed_;
  std::mutex report_mutex_;
};

/// A committer of batches, one after the other.
TurnLoop::Committer in_batches(TurnLoop& loop, std::size_t batch);

/// A committer of single turns from several threads.
TurnLoop::Committer from_threads(TurnLoop& loop, int threads);

}  // namespace perdure::bench
