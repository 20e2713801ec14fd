#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "replay/execution.h"
#include "tests/engine/model_store.h"
#include "tests/engine/random_program.h"

namespace perdure::test {

/// Randomness that can be wound back to the beginning of a turn.
class RewindableRandom final : public Random {
 public:
  void rewind(std::uint64_t to) { dice_ = Dice(to); }
  std::uint64_t next() override { return dice_.next(); }

 private:
  Dice dice_{0};
};

/// A turn as it was played.
struct PlayedTurn {
  std::vector<Message> messages;
  TimePoint now{};
  std::uint64_t random = 0;  ///< what its recorded values came from
  std::size_t events_before = 0;
  replay::TurnDecisions decisions;
  std::vector<replay::LogLine> log;
};

/// One execution, played to its end.
struct PlayedLife {
  std::int64_t execution = 1;
  std::vector<HistoryEvent> history;
  std::vector<PlayedTurn> turns;
};

/// Everything that a seed gave: the lives of one run, linked by continue-as-new.
struct PlayedRun {
  std::vector<PlayedLife> lives;
  std::string broken;  ///< the rule that a turn broke; empty when none was
};

/// Plays the orchestration of a seed with frames kept, against an outside that the same seed makes:
/// answers in any order and in batches, failures, results of the wrong shape, late and doubled
/// answers, events before their wait, cancels, the cleanup deadline, signals, updates, queries and
/// the drain deadline.
PlayedRun play(std::uint64_t seed);

/// A fresh execution of that life.
std::unique_ptr<replay::Execution> fresh(const PlayedLife& life, RewindableRandom& random);
/// Plays a recorded turn once more, on whatever frames `execution` has.
replay::TurnResult play_again(replay::Execution& execution,
                              RewindableRandom& random,
                              const PlayedTurn& turn);

}  // namespace perdure::test
