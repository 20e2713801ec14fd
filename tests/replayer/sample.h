#pragma once

#include <string>

#include <perdure/perdure.h>

#include "replayer/history_json.h"
#include "tests/engine/scripted_run.h"

/// The orchestration behind the histories in tests/replayer/histories. Its first version must never
/// change: those histories stand for runs of users. Changed versions of it stand beside it.
namespace perdure::test {

struct Order {
  std::string id;
  int cents = 0;
};
PERDURE_JSON(Order, id, cents)

inline constexpr Activity<std::string(Order)> charge{"charge"};
inline constexpr Activity<void(std::string)> refund{"refund"};
inline constexpr Activity<std::string(std::string)> ship{"ship"};
inline constexpr Activity<void(std::string)> notify{"notify"};
inline constexpr Event<bool> approved{"approved"};
inline constexpr Orchestration<std::string(Order)> checkout{"checkout"};
inline constexpr Orchestration<std::string(std::string)> delivery{"delivery"};

/// The state of a run of `cart`.
struct Cart {
  int items = 0;
  bool closed = false;
};
inline constexpr Orchestration<int(int)> cart{"cart"};
inline constexpr Signal<int> put{"put"};
inline constexpr Signal<void> close_cart{"close"};
inline constexpr Update<std::string(int)> reserve{"reserve"};

/// How a deployed version differs from the one that recorded.
enum class Change {
  kNone,
  kRenamedCall,
  kAddedCall,
  kRemovedCall,
  kReordered,
  kTimerForCall,
  kOtherChildId,
  kEarlyReturn,
  kOtherInput,
  kPatchedCall,  ///< a call more, behind patched(): no mismatch
};

Registry sample(Change change = Change::kNone);

/// What a store would give of a run.
replayer::RecordedHistory recorded(const ScriptedRun& run, const std::string& name);

/// The runs behind the files, by the names of the files.
std::map<std::string, replayer::RecordedHistory> sample_histories();

}  // namespace perdure::test
