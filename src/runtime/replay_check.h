#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <perdure/detail/handler_table.h>

#include "base/random.h"
#include "provider/provider.h"
#include "replay/execution.h"
#include "runtime/frame_keeper.h"
#include "runtime/step_options.h"
#include "runtime/turn_runner.h"

namespace perdure::runtime {

/// A turn that ran on kept frames and is in the store.
struct CachedTurn {
  const OrchestrationItem& item;
  const detail::OrchestrationHandler& main;
  std::unique_ptr<replay::Execution>& frames;  ///< as the turn left them
};

/// Finds code that is not deterministic before an eviction or a crash does: replays a part of the
/// cached turns from the store and compares them with the frames that are kept.
///
/// Cost: of each turn one random number; of each turn picked, its whole history is read and run
/// once, while the dispatcher waits, so at the default of 1 in 1,000 a turn of a run with
/// 1,000 events pays for one event more. All that are picked from a batch are read together. The
/// frames are held back until they are found good; a turn that another thread begins meanwhile
/// replays. A history that cannot be read is no difference, nor is a replay that does not return:
/// its frames go with it. In a hurry those that have not begun are left out, with their frames as
/// they are. The store is not written. Threading: one thread, that of its dispatcher.
class ReplayCheck {
 public:
  /// What it works with; all must outlive it.
  struct Parts {
    Provider& provider;
    FrameKeeper& frames;
    Random& random;
    TurnRunner& runner;
  };

  ReplayCheck(Parts parts, DispatcherOptions options)
      : parts_(parts), options_(std::move(options)) {}

  /// Whether the next cached turn is to be checked.
  bool picks();

  /// Compares each. Where a replay differs, the frames are destroyed, so that the next turn replays
  /// and shows what is wrong beside the run; the log says expected, actual and position. The run
  /// itself is left as it is.
  void run(const std::vector<CachedTurn>& turns);

 private:
  class Code;

  void note(const CachedTurn& turn, Code& code);

  const Parts parts_;
  const DispatcherOptions options_;
};

}  // namespace perdure::runtime
