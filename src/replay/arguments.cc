#include "replay/arguments.h"

#include <algorithm>
#include <string>

#include <perdure/errors.h>

#include "base/utf8.h"
#include "model/ids.h"
#include "model/version.h"

namespace perdure::replay {

namespace {

void require_queue(std::string_view field, std::string_view queue) {
  if (!queue.empty()) require(check_id(field, queue));
}

}  // namespace

void require(const Status& status) {
  if (!status.ok()) throw InvalidArgument(status.error().message);
}

void require_not_negative(std::string_view field, Duration value) {
  if (value >= Duration::zero()) return;
  throw InvalidArgument(std::string(field) + ": a duration must not be negative");
}

void require_version(std::string_view field, std::string_view version) {
  require(check_version(field, version));
}

void require_text(std::string_view field, std::string_view text) {
  if (is_valid_utf8(text) && text.find('\0') == std::string_view::npos) return;
  throw InvalidArgument(std::string(field) + ": must be valid UTF-8 without NUL");
}

void require_options(const ActivityOptions& options) {
  require_queue("queue", options.queue);
  require(check(stored_policy(options.retry)));
  require_not_negative("timeout", options.timeout);
  require_not_negative("start_to_close", options.start_to_close);
  require_not_negative("schedule_to_start", options.schedule_to_start);
  require_not_negative("heartbeat", options.heartbeat);
}

void require_options(const UndoOptions& options) {
  require_queue("undo queue", options.queue);
  require(check(stored_policy(options.retry)));
  require_not_negative("undo timeout", options.timeout);
}

void require_options(const ChildOptions& options) {
  require_queue("queue", options.queue);
  require_version("version", options.version);
  require_not_negative("timeout", options.timeout);
}

void require_options(const DetachedOptions& options) {
  require_queue("queue", options.queue);
  require_version("version", options.version);
  require_not_negative("delay", options.delay);
  require_not_negative("run_timeout", options.run_timeout);
}

RetryPolicy stored_policy(const Retry& retry) {
  RetryPolicy policy;
  policy.max_attempts = retry.max_attempts;
  policy.first_delay = retry.first_delay;
  policy.backoff = retry.backoff;
  // Whoever names only a long first delay means it.
  const bool by_default = retry.max_delay == Retry{}.max_delay;
  policy.max_delay = by_default ? std::max(retry.max_delay, retry.first_delay) : retry.max_delay;
  policy.jitter = retry.jitter;
  for (const std::string_view type : retry.non_retryable) {
    if (!type.empty()) policy.non_retryable.emplace_back(type);
  }
  return policy;
}

}  // namespace perdure::replay
