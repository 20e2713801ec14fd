#include "client/start_request.h"

#include <utility>

#include "client/throw_error.h"
#include "model/version.h"

namespace perdure::client {

StartOrchestration start_request(std::string_view name,
                                 std::string_view id,
                                 std::string input,
                                 const StartOptions& options) {
  if (const Status bad = check_version("version", options.version); !bad.ok()) {
    throw_error(bad.error());
  }
  StartOrchestration start;
  start.id = std::string(id);
  start.name = std::string(name);
  start.version = stored_version(options.version);
  start.queue = std::string(options.queue);
  start.priority = options.priority;
  start.input = std::move(input);
  start.delay = options.delay;
  start.run_timeout = options.run_timeout;
  start.on_conflict = options.on_conflict;
  start.on_reuse = options.on_reuse;
  start.request_id = std::string(options.request_id);
  return start;
}

}  // namespace perdure::client
