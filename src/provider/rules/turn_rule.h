#pragma once

#include "base/result.h"
#include "model/event.h"
#include "model/message.h"
#include "model/status.h"
#include "provider/turn_commit.h"

/// What a turn may commit, decided once for every provider. Pure.
namespace perdure::rules {

/// InvalidArgument unless the commit is well-formed for an execution that stands at `status` and
/// `last_event`: ids follow without a gap, the change of status is allowed to a turn (not into
/// terminated or canceling, into canceled only from canceling), a terminal status comes with its
/// terminal event last and no other does, `next` goes with continued_as_new and so do messages that
/// are kept, every work row, timer and child names an event of this commit, and every reply says
/// what became of an update or a query.
Status check(const TurnCommit& commit, ExecutionStatus status, EventId last_event);

/// True when the commit has the form of replies to queries of an execution that has ended.
bool is_for_ended(const TurnCommit& commit);

/// InvalidArgument unless such a commit decides nothing but its replies, and they are to queries: an
/// update may wait for the next execution, under its lock. The versions of the code
/// and of the engine that wrote it do not matter.
Status check_replies_alone(const TurnCommit& commit);

/// The event that ends a history with this status. Requires a terminal status.
EventKind terminal_event(ExecutionStatus status);

/// The message that tells a parent of this end. Requires a terminal status other than
/// continued_as_new.
MessageKind parent_message(ExecutionStatus status);

/// A cancel of a run that is not terminal and has no earlier request: canceled at once when it has
/// had no turn, otherwise canceling.
ExecutionStatus status_after_cancel(bool had_turn);

}  // namespace perdure::rules
