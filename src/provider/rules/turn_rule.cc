#include "provider/rules/turn_rule.h"

#include <string>

#include "base/check.h"

namespace perdure::rules {

namespace {

Status bad(const std::string& what) {
  return invalid_argument("turn commit: " + what);
}

/// A run is terminated, and begins to be canceled, by the call of a client; a turn only ends what
/// is canceling.
bool needs_a_client(ExecutionStatus from, ExecutionStatus to) {
  if (to == ExecutionStatus::kTerminated) return true;
  const bool cancels = to == ExecutionStatus::kCanceling || to == ExecutionStatus::kCanceled;
  return cancels && from != ExecutionStatus::kCanceling;
}

Status check_events(const TurnCommit& commit, EventId last_event) {
  std::int64_t expected = last_event.value + 1;
  for (const HistoryEvent& event : commit.events) {
    if (event.id.value != expected) {
      return bad("event id " + std::to_string(event.id.value) + " where " +
                 std::to_string(expected) + " must follow");
    }
    if (is_terminal(event.kind) && &event != &commit.events.back()) {
      return bad("the terminal event " + std::to_string(event.id.value) + " is not the last one");
    }
    ++expected;
  }
  return {};
}

Status check_end(const TurnCommit& commit) {
  const bool ends = is_terminal(commit.status);
  const bool has_end = !commit.events.empty() && is_terminal(commit.events.back().kind);
  if (ends != has_end || (ends && commit.events.back().kind != terminal_event(commit.status))) {
    return bad("status " + std::string(to_string(commit.status)) +
               " and the last event do not belong together");
  }
  const bool continues = commit.status == ExecutionStatus::kContinuedAsNew;
  if (continues != commit.next.has_value()) {
    return bad("'next' goes with status continued_as_new, and only with it");
  }
  return {};
}

/// Work, timers and children are born by an event of this commit.
Status check_source(const TurnCommit& commit, EventId event, const char* what) {
  const std::int64_t first = commit.events.empty() ? 0 : commit.events.front().id.value;
  const std::int64_t index = event.value - first;
  if (commit.events.empty() || index < 0 ||
      index >= static_cast<std::int64_t>(commit.events.size())) {
    return bad(std::string(what) + " of event " + std::to_string(event.value) +
               ", which is not in this commit");
  }
  return {};
}

Status check_replies(const TurnCommit& commit) {
  for (const Reply& reply : commit.replies) {
    const bool is_query = reply.kind == RequestKind::kQuery;
    if (!is_query && reply.kind != RequestKind::kUpdate) {
      return bad("a reply to something that is neither an update nor a query");
    }
    const bool tells =
        is_final(reply.stage) || (!is_query && reply.stage == RequestStage::kAccepted);
    if (tells) continue;
    return bad("the reply to " + std::string(to_string(reply.kind)) + " '" + reply.request +
               "' must not be " + std::string(to_string(reply.stage)));
  }
  return {};
}

/// What is decided besides the replies; nullptr: nothing is.
const char* other_decision(const TurnCommit& commit) {
  if (!commit.events.empty()) return "events";
  if (!commit.output.empty()) return "output";
  if (!(commit.failure == Failure{})) return "failure";
  if (commit.custom_status) return "custom_status";
  if (!commit.work.empty() || !commit.canceled_work.empty()) return "work";
  if (!commit.timers.empty() || !commit.canceled_timers.empty()) return "timers";
  if (!commit.children.empty() || !commit.canceled_children.empty()) return "children";
  if (!commit.raised.empty()) return "raised";
  if (commit.drain_at) return "drain_at";
  if (!commit.kept_messages.empty()) return "kept_messages";
  if (commit.next) return "next";
  return nullptr;
}

}  // namespace

bool is_for_ended(const TurnCommit& commit) {
  return is_terminal(commit.status) && commit.events.empty();
}

Status check_replies_alone(const TurnCommit& commit) {
  if (const char* other = other_decision(commit)) {
    return bad("an execution that is " + std::string(to_string(commit.status)) +
               " takes replies alone, but '" + other + "' is set");
  }
  for (const Reply& reply : commit.replies) {
    if (reply.kind != RequestKind::kQuery) {
      return bad("an execution that is " + std::string(to_string(commit.status)) +
                 " answers queries alone, but there is a reply to " +
                 std::string(to_string(reply.kind)) + " '" + reply.request + "'");
    }
  }
  return check_replies(commit);
}

Status check(const TurnCommit& commit, ExecutionStatus status, EventId last_event) {
  if (!is_allowed(status, commit.status) || needs_a_client(status, commit.status)) {
    return bad("status must not go from " + std::string(to_string(status)) + " to " +
               std::string(to_string(commit.status)));
  }
  PERDURE_RETURN_IF_ERROR(check_events(commit, last_event));
  PERDURE_RETURN_IF_ERROR(check_end(commit));
  PERDURE_RETURN_IF_ERROR(check_replies(commit));
  if (!commit.kept_messages.empty() && commit.status != ExecutionStatus::kContinuedAsNew) {
    return bad("'kept_messages' goes with status continued_as_new alone");
  }
  for (const NewWork& work : commit.work) {
    PERDURE_RETURN_IF_ERROR(check_source(commit, work.event, "work"));
    PERDURE_RETURN_IF_ERROR(check_id("work.queue", work.queue));
    PERDURE_RETURN_IF_ERROR(check_id("work.name", work.name));
  }
  for (const NewTimer& timer : commit.timers) {
    PERDURE_RETURN_IF_ERROR(check_source(commit, timer.event, "timer"));
  }
  for (const NewChild& child : commit.children) {
    PERDURE_RETURN_IF_ERROR(check_source(commit, child.event, "child"));
    PERDURE_RETURN_IF_ERROR(check_id("child.id", child.id));
    PERDURE_RETURN_IF_ERROR(check_id("child.name", child.name));
    PERDURE_RETURN_IF_ERROR(check_id("child.queue", child.queue));
  }
  return {};
}

EventKind terminal_event(ExecutionStatus status) {
  switch (status) {
    case ExecutionStatus::kCompleted:
      return EventKind::kCompleted;
    case ExecutionStatus::kFailed:
      return EventKind::kFailed;
    case ExecutionStatus::kCanceled:
      return EventKind::kCanceled;
    case ExecutionStatus::kTerminated:
      return EventKind::kTerminated;
    case ExecutionStatus::kContinuedAsNew:
      return EventKind::kContinuedAsNew;
    default:
      break;
  }
  PERDURE_CHECK(false, "terminal_event of a status that is not terminal");
  return EventKind::kFailed;
}

MessageKind parent_message(ExecutionStatus status) {
  switch (status) {
    case ExecutionStatus::kCompleted:
      return MessageKind::kChildCompleted;
    case ExecutionStatus::kFailed:
      return MessageKind::kChildFailed;
    case ExecutionStatus::kCanceled:
      return MessageKind::kChildCanceled;
    case ExecutionStatus::kTerminated:
      return MessageKind::kChildTerminated;
    default:
      break;
  }
  PERDURE_CHECK(false, "parent_message of a status that ends nothing");
  return MessageKind::kChildFailed;
}

ExecutionStatus status_after_cancel(bool had_turn) {
  return had_turn ? ExecutionStatus::kCanceling : ExecutionStatus::kCanceled;
}

}  // namespace perdure::rules
