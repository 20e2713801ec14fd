#pragma once

#include <cstdint>
#include <string>

#include <perdure/perdure.h>

#include "tests/processes/marks.h"

/// Orchestrations of all sorts, each with a result that is known beforehand, however often the
/// processes that run them die.
namespace perdure::test {

/// Who did a piece of work.
struct Done {
  int value = 0;
  std::int64_t pid = 0;
};
PERDURE_JSON(Done, value, pid)

inline constexpr Orchestration<int(int)> chain{"chain"};  ///< four calls, one after the other
inline constexpr Orchestration<int(int)> stubborn{
    "stubborn"};                                            ///< a call that fails and is retried
inline constexpr Orchestration<int(int)> sleepy{"sleepy"};  ///< timers of milliseconds
inline constexpr Orchestration<int(int)> family{"family"};  ///< three children at once
inline constexpr Orchestration<int(int)> listener{"listener"};  ///< two events of `nudge`
inline constexpr Orchestration<int(int)> racer{"racer"};        ///< a timer beats a call, twice
inline constexpr Orchestration<int(int)> undoer{"undoer"};      ///< fails and undoes what it did
inline constexpr Orchestration<int(int)> looper{"looper"};      ///< continues as new, four lives
inline constexpr Orchestration<int(int)> quick{"quick"};        ///< one call that takes no time
inline constexpr Orchestration<Done(int)> waiting{"waiting"};   ///< one call of a handler on hold
inline constexpr Orchestration<int(int)> doomed{"doomed"};      ///< its handler kills the process
inline constexpr Orchestration<int(int)> crowd{
    "crowd"};  ///< so many generations of kCrowd children each; the last waits for `nudge`
inline constexpr Event<int> nudge{"nudge"};

constexpr int kLives = 4;
constexpr int kCrowd = 50;

/// The handlers of a worker. `marks` must outlive all that runs them; there is one for the process.
Registry mixed_code(WorkerMarks& marks);

}  // namespace perdure::test
