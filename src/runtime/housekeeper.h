#pragma once

#include "provider/provider.h"
#include "runtime/attempts.h"
#include "runtime/step.h"

namespace perdure::runtime {

/// Does what time demands of the store as a whole: work rows that are overdue, lapsed or due, and
/// cancels and deletions that were too large for one commit. Any process may, at any time.
/// Threading: one thread per object.
class Housekeeper {
 public:
  /// Both must outlive it. `max_losses`: claims of a call that may be lost, see SweepWorkItems.
  Housekeeper(Provider& provider, Attempts& attempts, int max_losses = kMaxLosses)
      : provider_(provider), attempts_(attempts), max_losses_(max_losses) {}

  Step poll_once();

 private:
  Provider& provider_;
  Attempts& attempts_;
  const int max_losses_;
};

}  // namespace perdure::runtime
