#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <perdure/status.h>
#include <perdure/time.h>

/// Runs in lists and trees.
namespace perdure {

/// Which runs are wanted. What is set must apply; statuses are those of the current execution.
struct RunFilter {
  std::string name;                         ///< of the orchestration; empty: any
  std::string queue;                        ///< empty: any
  std::vector<ExecutionStatus> statuses;    ///< one of these; empty: any
  std::string id_prefix;                    ///< bytes that the id begins with
  std::optional<TimePoint> created_from;    ///< then or later
  std::optional<TimePoint> created_before;  ///< strictly earlier
  std::string parent;                       ///< direct children of this id; empty: any
  bool roots_only = false;                  ///< no children of others
};

/// Which part of a list.
struct PageOptions {
  std::size_t limit = 100;  ///< runs of a page, 1 to 10,000
  std::string after;        ///< `next` of the page before; empty: from the newest on
};

/// A run as a list shows it: `Client::status` tells the rest.
struct RunSummary {
  std::string id;
  std::string name;
  std::string version;
  std::string queue;
  bool is_child = false;  ///< started by another run that waits for it
  TimePoint created_at{};
  std::int64_t execution = 1;  ///< the current one
  ExecutionStatus status = ExecutionStatus::kRunning;
  std::string blocked;  ///< why it does not move, as in RunStatus; empty: nothing in its way
  std::optional<TimePoint> cancel_requested_at;
  TimePoint started_at{};
  std::optional<TimePoint> completed_at;
  /// Set when a row of this run cannot be read: which table and key. Then `blocked` is "corrupt"
  /// and the status is not known; such a run passes every filter of statuses.
  std::string problem;
};

/// Newest first, by creation. Paging neither misses nor repeats a run that was there all the time,
/// however many come and go meanwhile.
struct RunPage {
  std::vector<RunSummary> runs;
  std::string next;  ///< for PageOptions::after; empty: that was all
};

struct TreeOptions {
  int max_depth = 100;        ///< 0: the run alone
  std::size_t limit = 1'000;  ///< of nodes, 1 to 10,000
};

struct RunTreeNode {
  RunSummary run;
  int depth = 0;       ///< 0: the run that was asked for
  std::string parent;  ///< id of its parent in this tree; empty for the first node
};

/// A run and its descendants of all executions and close policies, parents before children,
/// children in the order of their start.
struct RunTree {
  std::vector<RunTreeNode> nodes;
  bool more = false;  ///< the depth or the limit cut it
};

}  // namespace perdure
