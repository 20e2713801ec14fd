#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/request.h"
#include "model/status.h"
#include "model/work_item.h"
#include "provider/call.h"
#include "provider/orchestration_requests.h"
#include "provider/read_requests.h"

/// Looking after a store: what is in it, and taking things out of it.
///
/// **Taking out is bounded.** What must happen at once happens in the commit of the call: the
/// instance, its line, lock, messages, work, stored start and cascades are gone, its id is free,
/// and a turn or a handler under way is fenced. The rest (descendants beyond the limit, history,
/// ended executions) is stored in that same commit as a removal and goes in portions of `limit`
/// rows, so that no delete holds up the writer, however large the tree. The answer says `removing`
/// while something is left; `carry_on_removals` carries it on, by any process, at any time, also
/// after the one that began died.
namespace perdure {

/// Which instances are wanted. What is set must apply; statuses are those of the current execution.
struct InstanceFilter {
  std::string name;                         ///< empty: any
  std::string queue;                        ///< empty: any
  std::vector<ExecutionStatus> statuses;    ///< one of these; empty: any
  std::string id_prefix;                    ///< bytes that the id begins with
  std::optional<TimePoint> created_from;    ///< then or later
  std::optional<TimePoint> created_before;  ///< strictly earlier
  std::optional<std::string> parent;        ///< direct children of this id, of any execution
  bool roots_only = false;                  ///< no children of others
};

/// Where a listing goes on. Opaque; stays valid when instances come and go.
struct ListCursor {
  InstanceKey last;

  bool operator==(const ListCursor&) const = default;
};

struct ListInstances {
  InstanceFilter filter;
  std::optional<ListCursor> after;  ///< `next` of the page before
  std::size_t limit = 100;
};

/// An instance as a list shows it; without payloads.
struct InstanceSummary {
  InstanceKey key;
  std::string id;
  std::string name;
  std::string version;
  std::string queue;
  std::optional<ParentLink> parent;
  TimePoint created_at{};
  ExecutionNo execution;  ///< the current one
  ExecutionStatus status = ExecutionStatus::kRunning;
  BlockedReason blocked = BlockedReason::kNone;
  std::optional<TimePoint> cancel_requested_at;
  TimePoint started_at{};
  std::optional<TimePoint> completed_at;
  /// Set when a row of this instance cannot be read: which table and key. Then `blocked` is
  /// corrupt, the status is unknown and passes every filter. Neighbours are listed all the same.
  std::optional<Error> problem;
};

/// Newest first, by creation. A page looks at a bounded number of rows: it may hold fewer than
/// `limit`, even none, and still have a `next`.
struct InstancePage {
  std::vector<InstanceSummary> instances;
  std::optional<ListCursor> next;  ///< unset: that was all
};

struct TreeQuery {
  std::string id;
  int max_depth = 100;        ///< 0: the instance alone
  std::size_t limit = 1'000;  ///< of nodes
};

struct TreeNode {
  InstanceSummary instance;
  int depth = 0;  ///< 0: the instance that was asked for
};

/// An instance and its descendants of all executions and close policies, parents before children
/// (breadth first), children in the order of their start.
struct InstanceTree {
  std::vector<TreeNode> nodes;
  bool more = false;  ///< the depth or the limit cut it
};

/// Executions of an instance that are kept, newest first.
struct ListExecutions {
  std::string id;
  std::optional<ExecutionNo> before;  ///< older than this one: the last of the page before
  std::size_t limit = 100;
};

struct ExecutionPage {
  std::vector<ExecutionInfo> executions;
  bool more = false;
};

/// What an instance holds in the store.
struct InstanceStats {
  std::int64_t executions = 0;       ///< kept ones, the current one included
  std::int64_t events = 0;           ///< of the current execution
  std::int64_t history_bytes = 0;    ///< names, payloads, texts and failures of those events
  std::int64_t queued_messages = 0;  ///< timers and deadlines that are not due included
  std::int64_t work_rows = 0;        ///< queued, claimed, marked or cut, of all its executions
  std::int64_t children = 0;         ///< direct ones
};

/// Work of one name in a queue.
struct WorkDepth {
  std::string name;
  std::int64_t ready = 0;    ///< may be claimed now
  std::int64_t delayed = 0;  ///< waits for its time
  std::int64_t claimed = 0;  ///< marked and cut rows included
  std::int64_t held = 0;     ///< set aside
  /// Since when the oldest ready row (by birth) may be claimed.
  std::optional<TimePoint> oldest_ready;

  bool operator==(const WorkDepth&) const = default;
};

/// What waits in one queue.
struct QueueDepth {
  std::string queue;
  std::int64_t instances_ready = 0;    ///< want a turn now
  std::int64_t instances_delayed = 0;  ///< want one later: a timer, a backoff, a delayed start
  std::int64_t instances_locked = 0;   ///< have a turn under way
  std::optional<TimePoint> oldest_instance;  ///< since when the first of the ready ones is due
  std::vector<WorkDepth> work;               ///< by name

  bool operator==(const QueueDepth&) const = default;
};

/// All queues in which something waits, by name. Costs as much as there are waiting rows.
struct QueueDepths {
  TimePoint now{};  ///< time of the store: ages are measured from it
  std::vector<QueueDepth> queues;
};

/// One row of the change feed.
struct Change {
  ChangeSeq seq;
  ChangeKind kind = ChangeKind::kStatus;
  InstanceKey instance;
  std::string id;  ///< empty when the instance is gone
  ExecutionNo execution;
  ExecutionStatus status = ExecutionStatus::kRunning;  ///< deleted: its last one
  TimePoint at{};
};

/// Changes after a position, in order.
struct ChangePage {
  std::vector<Change> changes;
  bool more = false;
  /// Changes after the position asked for were trimmed: look at the instances themselves.
  bool missed = false;
  /// Rows that cannot be read are left out and named here; the feed goes on behind them.
  std::vector<Error> problems;
};

struct InstanceDeleted {
  std::int64_t instances = 0;         ///< removed by this call, descendants included
  std::int64_t events = 0;            ///< history rows removed by this call
  std::vector<TouchedClaim> touched;  ///< fire these tokens now
  bool removing = false;              ///< the rest follows: carry_on_removals
};

/// Deletes an instance with all its descendants (of all executions, whatever their close policy).
/// Stored answers of request ids stay. The id can be used again at once, under a new key.
///
/// Whether somebody below is live is looked up in the whole tree (reads only), before anything is
/// written. With `force` live ones are deleted too: their locks are gone (a turn under way:
/// LockLost), their work is deleted and its tokens are `touched`, and nobody is told. Descendants
/// beyond the limit run on until `carry_on_removals` has reached them.
///
/// What cannot be read can be deleted. A request id makes it repeatable, as with calls of clients.
///
/// Errors: NotFound. Conflict, and nothing is written: a live run in the tree and no `force`; a
/// child of an instance that exists (also with `force`: delete that one). A child whose parent was
/// deleted, or started by an execution that was pruned, is a root.
struct DeleteInstance {
  using Answer = InstanceDeleted;

  std::string id;
  bool force = false;
  std::int64_t limit = 1'000;  ///< rows that this call removes, about
  std::string request_id;
};

/// Where a bulk delete goes on. Opaque.
struct BulkCursor {
  TimePoint completed_at{};
  InstanceKey instance;
  ExecutionNo execution;

  bool operator==(const BulkCursor&) const = default;
};

struct InstancesDeleted {
  std::int64_t roots = 0;        ///< that applied and are gone
  std::int64_t descendants = 0;  ///< of them, removed by this call
  std::int64_t skipped = 0;      ///< applied, but the tree has a live run
  std::int64_t events = 0;
  std::vector<TouchedClaim> touched;  ///< work of ended runs that was still under way
  bool removing = false;              ///< the rest of what was deleted follows: carry_on_removals
  std::optional<BulkCursor> next;     ///< more may apply: call again with it
};

/// Deletes ended roots with their trees, those that ended first first. What is set must apply.
/// Never touches a live run: a root with a live run in its tree is skipped. Unknown ids, children
/// and live roots do not apply; that is no error. Looks at a bounded number of rows.
/// Errors: InvalidArgument when neither `ids` nor `completed_before` is set, for a status that is
/// not terminal, for more than 1,000 ids, for a limit that is not positive.
struct DeleteInstances {
  using Answer = InstancesDeleted;

  std::vector<std::string> ids;               ///< empty: any
  std::vector<ExecutionStatus> statuses;      ///< empty: any that is terminal
  std::optional<TimePoint> completed_before;  ///< strictly
  std::optional<BulkCursor> after;            ///< `next` of the call before; not for ids
  std::int64_t max_roots = 100;               ///< not for ids
  std::int64_t limit = 1'000;                 ///< rows that this call removes, about
  std::string request_id;                     ///< makes it repeatable, with `next` as it was
};

struct ExecutionsPruned {
  std::int64_t executions = 0;
  std::int64_t events = 0;
  std::vector<TouchedClaim> touched;  ///< work of theirs that still ran
  bool more = false;                  ///< further executions apply: call again
  bool removing = false;              ///< history of pruned ones is left: carry_on_removals
};

/// Removes ended executions of an instance, oldest first, never the current one; what is set must
/// apply. Work of theirs that still runs (marked or cut) is deleted. Their children stay and become
/// roots, so that they can be deleted by themselves. An execution with an unfinished cascade stays
/// until the cascade is finished. Errors: NotFound, InvalidArgument (a limit that is not positive).
struct PruneExecutions {
  using Answer = ExecutionsPruned;

  std::string id;
  /// Keeps so many of the newest, the current one included; 0 and 1 keep the current one alone.
  std::int64_t keep_last = 1;
  std::optional<TimePoint> completed_before;  ///< strictly
  std::int64_t limit = 1'000;                 ///< rows that this call removes, about
  std::string request_id;                     ///< makes it repeatable
};

struct RemovalsCarriedOn {
  std::int64_t instances = 0;
  std::int64_t events = 0;
  std::vector<TouchedClaim> touched;
  bool removing = false;  ///< something is left
  /// Removals that cannot be read stay as they are and are named here.
  std::vector<Error> problems;
};

/// Carries on removals by about `limit` rows: first the descendants of deleted instances, then
/// history. Errors: InvalidArgument (a limit that is not positive).
struct CarryOnRemovals {
  using Answer = RemovalsCarriedOn;

  std::int64_t limit = 1'000;
};

struct ChangesTrimmed {
  std::int64_t trimmed = 0;
  bool more = false;  ///< the limit was reached: call again
};

/// Removes the oldest rows of the change feed, up to the first that does not apply; what is set
/// must apply. The newest row always stays, so that a reader who is behind can tell.
/// Errors: InvalidArgument when neither is set, for a number that is negative, for a limit that is
/// not positive.
struct TrimChanges {
  using Answer = ChangesTrimmed;

  std::optional<std::int64_t> keep;  ///< leave so many of the newest
  std::optional<TimePoint> before;   ///< strictly older ones
  std::int64_t limit = 10'000;
};

}  // namespace perdure
