#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <perdure/detail/handler_table.h>

#include "provider/provider.h"
#include "provider/token_mint.h"
#include "runtime/attempt.h"
#include "runtime/attempts.h"
#include "runtime/sleeper.h"
#include "runtime/step.h"
#include "runtime/step_options.h"
#include "runtime/suspects.h"

namespace perdure::runtime {

/// Claims work of one queue for registered activities. Stop tokens are registered before the claim,
/// so that no cancel falls between. A process runs one suspect at a time.
/// Crash: claims lapse or are taken over, a loss is charged, the attempts are made again.
/// Threading: one thread per object.
class WorkClaimer {
 public:
  /// What it works with; all must outlive it.
  struct Parts {
    Provider& provider;
    TokenMint& tokens;
    const detail::HandlerTable& handlers;
    Attempts& attempts;
    Suspects& suspects;
    Sleeper& sleeper;
    std::shared_ptr<StopFirer> firer;
    std::string worker;                 ///< what attempts are told of who runs them
    std::shared_ptr<BeatSignal> beats;       ///< who stores heartbeats; may be null
    std::shared_ptr<BeatSignal> overlooked;  ///< who watches claims; may be null
  };

  struct Claimed {
    std::vector<std::shared_ptr<Attempt>> attempts;
    /// `worked`: as many came as were asked for, there may be more.
    Step step;
  };

  WorkClaimer(Parts parts, WorkerOptions options);

  /// Claims up to `slots` calls. Each attempt is in `attempts` until somebody removes it.
  Claimed claim(std::size_t slots);

 private:
  /// `reserved`: one of them may be a suspect.
  Claimed claim_with(const std::vector<LockToken>& locks, bool reserved);
  void forget_unused(const std::vector<LockToken>& locks,
                     const std::vector<std::shared_ptr<Attempt>>& claimed);

  Parts parts_;
  const WorkerOptions options_;
};

}  // namespace perdure::runtime
