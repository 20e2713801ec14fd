#pragma once

#include <perdure/detail/handler_table.h>

#include "base/random.h"
#include "provider/provider.h"
#include "provider/token_mint.h"
#include "runtime/attempts.h"
#include "runtime/sleeper.h"
#include "runtime/step.h"
#include "runtime/step_options.h"

namespace perdure::runtime {

/// Runs activities of one queue: claims, runs handlers, settles them in one batch.
///
/// A crash loses no call: a claim that is not settled lapses after `lock_timeout`, a loss is
/// charged, and the attempt is made again. A cancel deletes or marks the row: the stop token fires,
/// and what the handler still brings is refused by the store (LockLost) and dropped.
/// Time limits: `schedule_to_start` and `schedule_to_close` end rows in the sweep (Housekeeper);
/// `start_to_close` and `heartbeat` are not enforced here, since the handler has this thread.
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

  /// Claims up to `slots` calls of registered activities, runs them one after the other on this
  /// thread, settles them.
  Step poll_once();

 private:
  WorkOutcome run(Attempt& attempt);
  void settle(std::vector<SettledWork> settled);

  Parts parts_;
  const WorkerOptions options_;
};

}  // namespace perdure::runtime
