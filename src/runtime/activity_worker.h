#pragma once

#include <perdure/detail/handler_table.h>

#include "base/random.h"
#include "provider/provider.h"
#include "provider/token_mint.h"
#include "runtime/attempts.h"
#include "runtime/settler.h"
#include "runtime/sleeper.h"
#include "runtime/step.h"
#include "runtime/step_options.h"
#include "runtime/suspects.h"
#include "runtime/work_claimer.h"

namespace perdure::runtime {

/// Runs activities of one queue on the calling thread: claims, runs handlers, settles them in one
/// batch. For tests on one thread; PooledWorker does the same with threads, from the same parts.
///
/// Time limits: `schedule_to_start` and `schedule_to_close` end rows in the sweep (Housekeeper);
/// `start_to_close` and `heartbeat` are not enforced here, since the handler has this thread.
/// Isolated handlers run on it as well, and not in processes of their own.
/// Threading: one thread per object; several may serve one queue.
class ActivityWorker {
 public:
  /// What it works with; all must outlive it.
  struct Parts {
    Provider& provider;
    TokenMint& tokens;
    const detail::HandlerTable& handlers;
    Attempts& attempts;
    Sleeper& sleeper;
    Random& random;
  };

  ActivityWorker(Parts parts, WorkerOptions options);

  /// Sends outcomes that the store has not taken yet; then claims up to `slots` calls of registered
  /// activities, runs them one after the other on this thread, settles them.
  Step poll_once();

 private:
  bool settle();

  Parts parts_;
  const WorkerOptions options_;
  Suspects suspects_;
  WorkClaimer claimer_;
  Settler settler_;
};

}  // namespace perdure::runtime
