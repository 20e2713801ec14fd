#include "cli/run_json.h"

#include <optional>

#include "base/time.h"
#include "model/status.h"

namespace perdure::cli {

namespace {

OrderedJson text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson() : OrderedJson(text);
}

OrderedJson time_or_null(const std::optional<TimePoint>& time) {
  return time ? OrderedJson(to_string(*time)) : OrderedJson();
}

OrderedJson failure_json(const Failure& failure) {
  if (failure.type.empty()) return nullptr;
  return {{"type", failure.type},
          {"message", failure.message},
          {"retryable", failure.retryable},
          {"details", text_or_null(failure.details)}};
}

}  // namespace

OrderedJson to_json(const RunStatus& status) {
  OrderedJson out;
  out["id"] = status.id;
  out["name"] = status.name;
  out["version"] = text_or_null(status.version);
  out["queue"] = status.queue;
  out["execution"] = status.execution;
  out["status"] = to_string(status.status);
  out["blocked"] = text_or_null(status.blocked);
  out["blocked_detail"] = text_or_null(status.blocked_detail);
  out["blocked_since"] = time_or_null(status.blocked_since);
  out["custom_status"] = status.custom_status;
  out["output"] = status.output;
  out["failure"] = failure_json(status.failure);
  out["cancel_reason"] = text_or_null(status.cancel_reason);
  out["cancel_requested_at"] = time_or_null(status.cancel_requested_at);
  out["canceled_at"] = time_or_null(status.canceled_at);
  out["deadline"] = time_or_null(status.deadline);
  out["started_at"] = to_string(status.started_at);
  out["completed_at"] = time_or_null(status.completed_at);
  return out;
}

OrderedJson to_json(const RunSummary& run) {
  const bool known = run.problem.empty();
  OrderedJson out;
  out["id"] = run.id;
  out["name"] = run.name;
  out["version"] = text_or_null(run.version);
  out["queue"] = run.queue;
  out["is_child"] = run.is_child;
  out["created_at"] = to_string(run.created_at);
  out["execution"] = run.execution;
  out["status"] = known ? OrderedJson(to_string(run.status)) : OrderedJson();
  out["blocked"] = text_or_null(run.blocked);
  out["cancel_requested_at"] = time_or_null(run.cancel_requested_at);
  out["started_at"] = known ? OrderedJson(to_string(run.started_at)) : OrderedJson();
  out["completed_at"] = time_or_null(run.completed_at);
  out["problem"] = text_or_null(run.problem);
  return out;
}

OrderedJson to_json(const std::vector<RunSummary>& runs) {
  OrderedJson list = OrderedJson::array();
  for (const RunSummary& run : runs) list.push_back(to_json(run));
  return list;
}

OrderedJson to_json(const RunTree& tree) {
  OrderedJson nodes = OrderedJson::array();
  for (const RunTreeNode& node : tree.nodes) {
    OrderedJson each = to_json(node.run);
    each["depth"] = node.depth;
    each["parent"] = text_or_null(node.parent);
    nodes.push_back(std::move(each));
  }
  return {{"nodes", std::move(nodes)}, {"more", tree.more}};
}

std::string one_line(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace perdure::cli
