#pragma once

#include <cstdint>
#include <vector>

namespace perdure::test {

/// Numbers from a seed; the same ones on every platform.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// 0 .. count - 1.
  int pick(int count) { return static_cast<int>(next() % static_cast<std::uint64_t>(count)); }
  bool once_in(int count) { return pick(count) == 0; }

 private:
  std::uint64_t state_;
};

enum class Do : std::uint8_t {
  // One await.
  kCall,
  kOutcome,  ///< a call as a value
  kUndoable,
  kChild,
  kTimer,
  kEvent,
  kUntil,  ///< a state that handlers make, or a timer
  // Several futures.
  kRaceCalls,
  kRaceKinds,
  kJoinCalls,
  kJoinNamed,
  kDropCalls,  ///< made and given up at once
  kDetach,
  // Tasks.
  kSpawn,  ///< a handle that stays in the block
  kJoinSpawned,
  kDropSpawned,
  kSubTask,
  kShield,
  kScope,
  // Values.
  kSideEffect,
  kUuid,
  kRandom,
  kPatched,
  kStatus,
  kLog,
  kStartDetached,
  // Control.
  kTry,
  kBranch,  ///< on what was seen so far
  kLoop,
  kThrow,
  kContinueAsNew,
};
inline constexpr int kDoCount = static_cast<int>(Do::kContinueAsNew) + 1;

struct Instruction;
using Block = std::vector<Instruction>;

struct Instruction {
  Do what = Do::kCall;
  int variant = 0;  ///< which of its forms
  int count = 1;
  Block body;
  Block other;  ///< after a caught failure, or the other branch
};

/// A small program, the same for the same seed.
Block make_program(std::uint64_t seed);
/// A smaller one, for a message handler.
Block make_handler_program(std::uint64_t seed);

}  // namespace perdure::test
