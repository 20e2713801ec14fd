#pragma once

#include <perdure/run_history.h>
#include <perdure/run_list.h>
#include <perdure/run_status.h>

#include "provider/provider.h"

/// What the store tells of runs, as values of the public API, and the other way round. Pure, but
/// for `run_status`.
namespace perdure::client {

/// One execution of a run, for people. Reads the last event of a terminated one, where its reason
/// stands. Errors: those of the read; Corrupt for a payload that is no JSON text.
Result<RunStatus> run_status(Provider& store,
                             const InstanceInfo& run,
                             const ExecutionInfo& execution);

InstanceFilter instance_filter(const RunFilter& filter);
RunSummary run_summary(InstanceSummary summary);
RunTree run_tree(InstanceTree tree);
RunEvent run_event(HistoryEvent event);
EventDelivered event_delivered(EventDelivery answer);

}  // namespace perdure::client
