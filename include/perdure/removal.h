#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <perdure/status.h>
#include <perdure/time.h>

/// Taking runs out of a store. Each call is one commit of bounded size. What others can see or run
/// is gone with it and the id is free; what is left of large trees and long histories follows in
/// portions (`removing`), carried on by any runtime on the store.
namespace perdure {

struct DeleteOptions {
  bool force = false;                ///< live runs too: their work is canceled, nobody is told
  std::string_view request_id = {};  ///< makes the call repeatable
};

struct RunDeleted {
  std::int64_t runs = 0;    ///< removed by this call, descendants included
  std::int64_t events = 0;  ///< of histories, removed by this call
  bool removing = false;    ///< the rest follows
};

/// Which ended runs are to be deleted, with all their descendants. What is set must apply; `ids` or
/// `completed_before` must be set.
struct DeleteFilter {
  std::vector<std::string> ids;               ///< at most 1,000; empty: any
  std::vector<ExecutionStatus> statuses;      ///< ends only; empty: any end
  std::optional<TimePoint> completed_before;  ///< strictly
  std::int64_t max_runs = 100;                ///< of one call, descendants not counted; not for ids
  std::string after;                          ///< `next` of the call before; not for ids
  std::string request_id;                     ///< makes the call repeatable
};

struct RunsDeleted {
  std::int64_t runs = 0;         ///< that applied and are gone
  std::int64_t descendants = 0;  ///< of them, removed by this call
  std::int64_t skipped = 0;      ///< applied, but a descendant is live
  std::int64_t events = 0;       ///< of histories, removed by this call
  bool removing = false;         ///< the rest of what was deleted follows
  std::string next;              ///< more may apply: call again with it; empty: that was all
};

/// Which ended executions of a run are to be removed: never the current one. What is set must
/// apply.
struct PruneOptions {
  std::int64_t keep_last = 1;  ///< so many of the newest stay, the current one included
  std::optional<TimePoint> completed_before;  ///< strictly
  std::string_view request_id = {};           ///< makes the call repeatable
};

struct ExecutionsRemoved {
  std::int64_t executions = 0;
  std::int64_t events = 0;
  bool more = false;      ///< further executions apply: call again, with another request id
  bool removing = false;  ///< history of removed ones follows
};

}  // namespace perdure
