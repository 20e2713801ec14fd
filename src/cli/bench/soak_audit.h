#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/event.h"
#include "provider/provider.h"

/// What must hold for runs that were canceled at random, looked up in the store. Each text that is
/// answered is one violation.
namespace perdure::bench {

/// Ends and other things that a soak has seen, to know that they did occur.
struct SoakCounts {
  std::int64_t runs = 0;
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t canceled = 0;
  std::int64_t continued = 0;  ///< executions that continued as new
  std::int64_t timeouts = 0;   ///< calls that took too long
  std::int64_t undone = 0;     ///< undos that completed
};

/// Descendants of the first run of the tree that can still move, though that run was canceled: live
/// and not told to stop. Those below a child that its parent abandons, or shields, are none of its
/// business.
std::vector<std::string> runnable_below(const InstanceTree& tree);

/// Results in the history of an execution that came too late: of an activity that had been told to
/// stop, and after a cancel those of every call that it ended.
std::vector<std::string> late_results(const std::vector<HistoryEvent>& history);

/// Looks at a tree that should have ended: every execution of every run has a terminal status and a
/// terminal event, none with a cancel has ended otherwise than canceled, no late result was
/// accepted, no cleanup was canceled but by itself, and nothing is left to run. `canceled`: ids of
/// runs in it whose cancel was answered with `changed`. Adds to `counts`. NotFound when there is no
/// such run.
Result<std::vector<std::string>> check_tree(Provider& store,
                                            const std::string& root,
                                            const std::set<std::string>& canceled,
                                            SoakCounts& counts);

/// Ids of the runs whose id begins so and whose status is among these (empty: any).
Result<std::vector<std::string>> ids_with_prefix(Provider& store,
                                                 const std::string& prefix,
                                                 const std::vector<ExecutionStatus>& statuses);

/// Those of a tree that was deleted and yet are there.
Result<std::vector<std::string>> left_of_deleted(Provider& store, const std::string& root);

/// Work that waits or runs, in all queues.
Result<std::int64_t> work_in_queues(Provider& store);

}  // namespace perdure::bench
