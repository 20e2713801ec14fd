#pragma once

#include <string>

#include "provider/management_requests.h"
#include "provider/sqlite/writer.h"

/// Management: writes inside an open write transaction, and reads. They throw SqliteError.
namespace perdure::sqlite {

// delete_instance.cc
Result<InstanceDeleted> delete_instance(WriteContext& context, const DeleteInstance& request);
Result<InstancesDeleted> delete_instances(WriteContext& context, const DeleteInstances& request);
Result<RemovalsCarriedOn> carry_on_removals(WriteContext& context, const CarryOnRemovals& request);

// prune_executions.cc
Result<ExecutionsPruned> prune_executions(WriteContext& context, const PruneExecutions& request);

// list_instances.cc
Result<InstancePage> list_instances(Connection& db, const ListInstances& request);
Result<InstanceTree> get_tree(Connection& db, const TreeQuery& query);
Result<ExecutionPage> list_executions(Connection& db, const ListExecutions& request);
Result<InstanceStats> get_stats(Connection& db, const std::string& id);

// queue_depths.cc
QueueDepths queue_depths(Connection& db, TimePoint now);

// change_feed.cc
ChangePage read_changes(Connection& db, ChangeSeq after, std::size_t limit);
Result<ChangesTrimmed> trim_changes(WriteContext& context, const TrimChanges& request);

}  // namespace perdure::sqlite
