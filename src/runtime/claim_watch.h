#pragma once

#include "provider/provider.h"
#include "runtime/attempts.h"
#include "runtime/step.h"

namespace perdure::runtime {

/// Learns what became of the claims of this process: one cheap read for all of them, whenever the
/// store says that one was touched, and each `cancellation_poll_interval` when it says nothing. A
/// claim that is gone or marked: the stop token fires.
///
/// It only reads, on a thread of its own: a file that somebody else is writing to, for however
/// long, and renewals that wait for it, delay no cancel. No answer is not bad news: it looks again.
/// Threading: one thread per object.
class ClaimWatch {
 public:
  /// Both must outlive it.
  ClaimWatch(Provider& provider, Attempts& attempts) : provider_(provider), attempts_(attempts) {}

  /// Nothing is read when no claim is held.
  Step poll_once();

 private:
  Provider& provider_;
  Attempts& attempts_;
};

}  // namespace perdure::runtime
