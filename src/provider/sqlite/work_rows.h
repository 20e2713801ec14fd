#pragma once

#include <vector>

#include "model/work_item.h"
#include "provider/rules/work_rule.h"
#include "provider/sqlite/writer.h"

/// Work rows: birth and loss of their reason to exist. Requires: an open write transaction.
namespace perdure::sqlite {

void insert_work(WriteContext& context,
                 InstanceKey key,
                 ExecutionNo execution,
                 const NewWork& work);

/// Takes away the reason of all work of an execution (terminated: of the whole instance). Claims
/// that were deleted or marked are added to `touched`, and whoever waits for its claims is woken.
void cancel_work(WriteContext& context,
                 InstanceKey key,
                 ExecutionNo execution,
                 rules::CancelCause cause,
                 std::vector<TouchedClaim>& touched);

/// The same for one call.
void cancel_work_of(WriteContext& context,
                    InstanceKey key,
                    ExecutionNo execution,
                    EventId event,
                    rules::CancelCause cause,
                    std::vector<TouchedClaim>& touched);

/// Ends a row for good: deleted, and its owner is told if it has one and that execution still
/// lives. When the owner cannot be read the row is set aside instead, and that is the answer.
std::optional<Error> end_work(WriteContext& context,
                              WorkId id,
                              MessageKind tell,
                              const std::string& result,
                              const Failure& failure);
/// The same for a row whose owner was read.
void end_work_of(WriteContext& context,
                 WorkId id,
                 const WorkOwner& owner,
                 MessageKind tell,
                 const std::string& result,
                 const Failure& failure);

}  // namespace perdure::sqlite
