#pragma once

#include <optional>

#include "base/time.h"
#include "model/message.h"
#include "model/work_item.h"
#include "provider/work_requests.h"

/// What becomes of a work row, decided once for every provider. Pure.
namespace perdure::rules {

/// Who takes a row's reason to exist away.
enum class CancelCause : std::uint8_t {
  kRunCanceled,  ///< a cancel of the run: shielded rows stay
  kCallDropped,  ///< the orchestration gave up this call
  kRunEnded,     ///< completed, failed, canceled, continued as new: nothing stays shielded
  kTerminated,   ///< nothing waits
};

enum class CancelEffect : std::uint8_t {
  kKeep,
  kDelete,
  kMark,  ///< keeps token and lease, is never claimed again, its end will be written
  kCut,   ///< runs on without an owner; is never started again
  kEnd,   ///< deleted, and its owner, who waits for the outcome, is told that it was canceled
};

/// `claimed`: a live or lapsed claim exists (a token is set).
CancelEffect cancel_effect(
    CancelCause cause, bool claimed, OnCancel on_cancel, bool shielded, bool marked_before);

/// What an outcome writes.
struct Settlement {
  enum class Row : std::uint8_t { kDelete, kRetry, kGiveBack };

  Row row = Row::kDelete;
  std::optional<MessageKind> tell;  ///< message to the owner, in the same commit
};

Settlement settle(WorkOutcome::Kind outcome, OwnerKind owner, OnCancel on_cancel, bool marked);

/// What the end of a lease, or the end of the process that held it, does to a claimed row.
enum class LapseEffect : std::uint8_t {
  kReady,     ///< free again, a loss (or a deferral) charged
  kCanceled,  ///< it was marked, or cut from its owner: ended as canceled
  kPoison,    ///< it has cost as many claims as the limit allows, the last one alone
};

/// `unwanted`: marked, or without an owner. `alone`: the process that lost it held no other claim
/// and no instance lock. A loss in company proves nothing: the neighbours of a guilty row are lost
/// with it, however often new guilty ones come.
LapseEffect lapse_effect(bool unwanted, int losses_after, int max_losses, bool alone);

/// A suspect whose next loss may fail it. It is handed out only to a process that holds nothing,
/// and with nothing else, so that the loss proves something.
bool is_on_trial(int losses, int max_losses);

/// How long a process that claimed a row on trial claims nothing else. It doubles with each loss
/// past the limit: a handler that ends its process late is found in the end, and a long innocent
/// one holds up its process for a short time.
Duration trial_time(int losses, int max_losses);

/// When the sweep must look at a row that has these limits; nullopt = never.
std::optional<TimePoint> expiry(const WorkTimeouts& timeouts,
                                TimePoint created_at,
                                bool was_claimed);

}  // namespace perdure::rules
