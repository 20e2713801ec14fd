#include <array>
#include <string>
#include <vector>

#include "tests/races/race.h"

/// The ends of a marked row: of a call with `on_cancel = wait` that was given up while its handler
/// runs. The first of them deletes the row and tells the owner, in one commit; the second is
/// refused or finds nothing, and nobody hears of it.
namespace perdure::races::marked_races {

namespace {

struct End {
  Deed deed;
  const char* first;   ///< what it says when it ends the row
  const char* second;  ///< and when the row has been ended
  const char* told;    ///< what the owner hears when it was first
};

constexpr std::array kEnds{
    End{Deed::kComplete, "complete ok", "complete LockLost", "activity_completed"},
    End{Deed::kFail, "fail ok", "fail LockLost", "activity_failed"},
    End{Deed::kEndOfGrace, "grace", "grace", "activity_canceled"},
    End{Deed::kLeaseSweep, "sweep ended 1, fires 1", "sweep nothing", "activity_canceled"},
    End{Deed::kShutdown,
        "shutdown frees 0+0, ends 1",
        "shutdown frees 0+0, ends 0",
        "activity_canceled"},
    End{Deed::kTakeover,
        "takeover frees 0+0, ends 1",
        "takeover frees 0+0, ends 0",
        "activity_canceled"},
};

/// A process ends once: the other way to end it does not even look at the row.
std::string said_second(const End& first, const End& second) {
  if (first.deed == Deed::kTakeover && second.deed == Deed::kShutdown) {
    return "shutdown changes nothing";
  }
  if (first.deed == Deed::kShutdown && second.deed == Deed::kTakeover) {
    return "takeover changes nothing";
  }
  return second.second;
}

/// `run`: the run afterwards, and what it hears before the end of the call.
std::string story(const End& first, const End& second, const std::string& run) {
  return std::string(first.first) + "; " + said_second(first, second) + "; " + run + first.told;
}

/// Every two of them. A lease that is swept has lapsed; the other end is in time all the same.
std::vector<Race> races_in(Scene scene, const std::string& run) {
  std::vector<Race> races;
  for (std::size_t i = 0; i < kEnds.size(); ++i) {
    for (std::size_t k = i + 1; k < kEnds.size(); ++k) {
      const End& a = kEnds[i];
      const End& b = kEnds[k];
      scene.lapsed = a.deed == Deed::kLeaseSweep || b.deed == Deed::kLeaseSweep;
      races.push_back({a.deed, b.deed, scene, story(a, b, run), story(b, a, run)});
    }
  }
  return races;
}

[[maybe_unused]] const bool kDrops =
    add_races(races_in({.dropped = true}, "running, hears "), "MarkedByADrop");
[[maybe_unused]] const bool kCancels =
    add_races(races_in({.canceled = true}, "canceling, hears cancel+"), "MarkedByACancel");

}  // namespace

}  // namespace perdure::races::marked_races
