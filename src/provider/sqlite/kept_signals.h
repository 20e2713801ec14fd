#pragma once

#include <string>
#include <vector>

#include "model/event.h"
#include "model/ids.h"
#include "provider/process_requests.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/writer.h"

/// Which live runs keep a signal that no code has taken yet, so that code with a handler for it can
/// wake them. A row belongs to the current execution of its instance and names the event by which
/// it was kept. Requires: an open write transaction.
namespace perdure::sqlite {

/// What the events of a turn say: signals that are kept, and kept ones that are taken. True: one
/// was kept.
bool note_kept_signals(WriteContext& context,
                       InstanceKey instance,
                       const std::vector<HistoryEvent>& events);

/// What an execution was left by the one before: it is kept until a turn takes it.
void keep_signal(WriteContext& context, InstanceKey instance, const HistoryEvent& event);

/// The execution is over.
void forget_kept_signals(WriteContext& context, InstanceKey instance);

/// The run has kept one of these, and its code is `version`: it gets one more turn if a living
/// process declares it, since that one may have been passed over.
void wake_for_declared(WriteContext& context,
                       const InstanceRow& instance,
                       const std::string& version,
                       const std::vector<HistoryEvent>& events);

/// Runs that keep what this process declares get a turn.
void wake_for_process(WriteContext& context, const std::vector<DeclaredSignals>& declared);

/// A process ends that had the code of runs, but not the handlers: they get a turn of the others,
/// which have them. Requires: its declarations are still there.
void wake_for_others(WriteContext& context, Epoch ending);

}  // namespace perdure::sqlite
