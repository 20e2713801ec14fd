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
  /// Both must outlive it.
  Housekeeper(Provider& provider, Attempts& attempts) : provider_(provider), attempts_(attempts) {}

  Step poll_once();

 private:
  Provider& provider_;
  Attempts& attempts_;
};

}  // namespace perdure::runtime
