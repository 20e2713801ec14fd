#include <utility>

#include <perdure/client.h>

#include "client/checked_id.h"
#include "client/cursors.h"
#include "client/made_id.h"
#include "client/store_calls.h"

namespace perdure {

RunDeleted Client::remove(std::string_view id, const DeleteOptions& options) const {
  DeleteInstance request;
  request.id = client::checked_id("id", id);
  request.force = options.force;
  request.request_id = client::request_id_or_made(options.request_id);
  const auto answer = client::change(*store_, request, client::CallTime(options_.call_timeout));
  return {answer.instances, answer.events, answer.removing};
}

RunsDeleted Client::remove_ended(const DeleteFilter& filter) const {
  DeleteInstances request;
  for (const std::string& id : filter.ids) request.ids.push_back(client::checked_id("ids", id));
  request.statuses = filter.statuses;
  request.completed_before = filter.completed_before;
  if (!filter.after.empty()) request.after = client::read_bulk_cursor(filter.after);
  request.max_roots = filter.max_runs;
  request.request_id = client::request_id_or_made(filter.request_id);
  // Each page is a call of its own.
  if (!filter.request_id.empty() && !filter.after.empty()) request.request_id += "/" + filter.after;
  if (filter.max_runs <= 0) throw InvalidArgument("max_runs must be at least 1");
  const auto answer = client::change(*store_, request, client::CallTime(options_.call_timeout));
  return {answer.roots,
          answer.descendants,
          answer.skipped,
          answer.events,
          answer.removing,
          answer.next ? client::write_cursor(*answer.next) : std::string()};
}

ExecutionsRemoved Client::prune(std::string_view id, const PruneOptions& options) const {
  PruneExecutions request;
  request.id = client::checked_id("id", id);
  request.keep_last = options.keep_last;
  request.completed_before = options.completed_before;
  request.request_id = client::request_id_or_made(options.request_id);
  const auto answer = client::change(*store_, request, client::CallTime(options_.call_timeout));
  return {answer.executions, answer.events, answer.more, answer.removing};
}

}  // namespace perdure
