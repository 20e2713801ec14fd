#include "runtime/housekeeper.h"

#include "provider/stop_reasons.h"

namespace perdure::runtime {

Step Housekeeper::poll_once() {
  const Result<SweptWork> swept = provider_.sweep_work_items({.max_losses = max_losses_});
  if (!swept.ok()) return {.trouble = swept.error()};
  attempts_.fire(swept->touched, kClaimGone);
  const Result<CascadesCarriedOn> cascades = provider_.carry_on_cascades();
  if (!cascades.ok()) return {.trouble = cascades.error()};
  attempts_.fire(cascades->touched, kRunCanceled);
  const Result<RemovalsCarriedOn> removals = provider_.carry_on_removals();
  if (!removals.ok()) return {.trouble = removals.error()};
  attempts_.fire(removals->touched, kRunDeleted);
  Step step;
  step.worked = swept->promoted + swept->lost + swept->ended + swept->poisoned + swept->timed_out +
                        cascades->reached + cascades->remaining >
                    0 ||
                removals->removing;
  step.next_at = swept->next_at;
  return step;
}

}  // namespace perdure::runtime
