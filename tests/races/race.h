#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Pairs of things that can happen to one run at the same time. Each pair is two tests,
/// `Races.ABeforeB` and `Races.BBeforeA`: they make the same run, let both happen in that order,
/// and say what everybody was answered and what is left.
namespace perdure::races {

/// What happens. docs/cancellation-races.md says which of them can meet.
enum class Deed {
  kCancel,
  kTerminate,
  kClaim,       ///< by another process
  kComplete,    ///< this and the next two: by the process that has claimed the call
  kFail,        ///< for good
  kTimerFires,  ///< the run is fetched, and hears of timers that are due: by another process, or
                ///< for the turn of this one
  kChildStart,  ///< this, the next two and the ack: a turn that this process has under way
  kContinueAsNew,
  kSelect,        ///< an event has won: the call and the timer are dropped
  kRetryBackoff,  ///< the attempt failed and waits for the next
  kCallTimeout,   ///< schedule_to_close, or start_to_close when the call has that
  kAck,           ///< of a turn that completes the run
  kRenewal,
  kCheck,
  kEndOfGrace,  ///< of the handler of the call, which was told to stop
  kLeaseSweep,
  kShutdown,  ///< the process that holds turn and call ends its registration
  kDelete,    ///< with force
  kTakeover,  ///< of the process that holds turn and call
};

struct DeedInfo {
  Deed deed;
  std::string_view name;   ///< in the names of tests and in the table
  std::string_view point;  ///< the failpoint that is passed when it is decided
};

/// All of them, in the order of the table.
std::span<const DeedInfo> deeds();
const DeedInfo& info_of(Deed deed);

/// The run before the race. It has had its first turn, which made one call.
struct Scene {
  bool claimed = true;     ///< this process has claimed the call, for an hour
  bool lapsed = false;     ///< it was for 30 seconds, and they are over
  bool two_calls = false;  ///< there is another one, claimed too: the second outcome is for it
  bool waits = false;      ///< the call has `on_cancel = wait`
  bool dropped = false;    ///< it waits and was given up by a later turn: its row is marked
  bool canceled = false;   ///< it waits and its run was canceled: its row is marked
  bool overdue = false;    ///< its schedule_to_close is over
  bool limited = false;    ///< it has a start_to_close, which is over
  bool timer = false;      ///< the first turn made a timer, which is due
  bool turn = false;       ///< this process has a turn under way, for an event
  /// That turn and the timer race: the timer is due when the turn is fetched, and among its
  /// messages, or falls due while the turn is under way.
  bool timer_turn = false;
};

inline constexpr Scene kQueued{.claimed = false};
inline constexpr Scene kQueuedOverdue{.claimed = false, .overdue = true};
inline constexpr Scene kRunning{};
inline constexpr Scene kTwoCalls{.two_calls = true};
inline constexpr Scene kLapsed{.lapsed = true};
inline constexpr Scene kOverdue{.overdue = true};
inline constexpr Scene kOverdueTimer{.overdue = true, .timer = true};
inline constexpr Scene kLimitedAndLapsed{.lapsed = true, .limited = true};
inline constexpr Scene kDropped{.dropped = true};
inline constexpr Scene kDroppedAndLapsed{.lapsed = true, .dropped = true};
inline constexpr Scene kDroppedTimer{.dropped = true, .timer = true};
inline constexpr Scene kDroppedTimerLapsed{.lapsed = true, .dropped = true, .timer = true};
inline constexpr Scene kTimer{.timer = true};
inline constexpr Scene kQueuedTimer{.claimed = false, .timer = true};
inline constexpr Scene kTurn{.turn = true};
inline constexpr Scene kTurnQueued{.claimed = false, .turn = true};
inline constexpr Scene kTurnLapsed{.lapsed = true, .turn = true};
inline constexpr Scene kTurnOverdue{.overdue = true, .turn = true};
inline constexpr Scene kTurnDropped{.dropped = true, .turn = true};
inline constexpr Scene kTurnTimer{.timer = true, .turn = true};
inline constexpr Scene kTimerTurn{.timer = true, .timer_turn = true};
inline constexpr Scene kTurnWaiting{.waits = true, .turn = true};
inline constexpr Scene kTurnWaitingLapsed{.lapsed = true, .waits = true, .turn = true};

/// One pair. The stories: what each was answered, in their order, and at last what is left: status
/// of the run, its work rows, what its next turn hears, its child.
struct Race {
  Deed a;
  Deed b;
  Scene scene;
  std::string a_before_b;
  std::string b_before_a;
};

/// Makes two tests of each. Called while statics are initialised; answers true.
bool add_races(const std::vector<Race>& races, const char* suite = "Races");

}  // namespace perdure::races
