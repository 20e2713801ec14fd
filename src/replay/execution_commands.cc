#include <algorithm>
#include <utility>

#include <perdure/errors.h>

#include "model/version.h"
#include "replay/arguments.h"
#include "replay/commands.h"
#include "replay/execution.h"

namespace perdure::replay {

namespace {

HistoryEvent command(EventKind kind, std::string_view name = {}) {
  HistoryEvent event;
  event.kind = kind;
  event.name = std::string(name);
  return event;
}

}  // namespace

std::string Execution::queue_or_own(std::string_view queue) const {
  return queue.empty() ? spec_.queue : std::string(queue);
}

detail::OpRef Execution::never() {
  return detail::OpRef(new detail::Op(*this, detail::OpKind::kTimer, 0, {}, root_));
}

detail::OpRef Execution::add_op(detail::OpKind kind, EventId event, std::string_view name) {
  detail::OpRef op(
      new detail::Op(*this, kind, event.value, std::string(name), current_scope_ref()));
  op->join(op->scope->ops);
  ops_.emplace(event.value, op);
  return op;
}

detail::OpRef Execution::call_activity(detail::ActivityCall call) {
  check_read_only();
  if (stopped()) return never();
  check_scope();
  require(check_id("activity name", call.name));
  require_options(call.options);
  record_pending_call();
  if (stopped()) return never();
  HistoryEvent event = command(EventKind::kActivityScheduled, call.name);
  event.text = queue_or_own(call.options.queue);
  event.number = hash_of(call.input);
  event.payload = call.input;
  detail::OpRef op = add_op(detail::OpKind::kActivity, journal_.next_id(), call.name);
  op->on_cancel = call.options.on_cancel;
  NewWork work;
  if (mode_ == Mode::kLive) {
    work.event = journal_.next_id();
    work.queue = queue_or_own(call.options.queue);
    work.name = std::string(call.name);
    work.input = std::move(call.input);
    work.priority = call.options.priority;
    work.on_cancel = call.options.on_cancel;
    work.shielded = current_scope().shielded;
    work.retry = stored_policy(call.options.retry);
    work.timeouts.schedule_to_close = call.options.timeout;
    work.timeouts.start_to_close = call.options.start_to_close;
    work.timeouts.schedule_to_start = call.options.schedule_to_start;
    work.timeouts.heartbeat = call.options.heartbeat;
  }
  scratch_.get().pending_call = PendingCall{op, std::move(event), std::move(work)};
  return op;
}

void Execution::record_pending_call() {
  std::optional<PendingCall>& pending = scratch_.get().pending_call;
  if (!pending) return;
  PendingCall call = std::move(*pending);
  pending.reset();
  if (journal_.record(std::move(call.event), now_) == nullptr) {
    mode_ = Mode::kBroken;
  } else if (mode_ == Mode::kLive) {
    decisions().work.push_back(std::move(call.work));
  }
}

void Execution::owe_undo(detail::Op& call, std::string_view name, const UndoOptions& options) {
  if (stopped()) return;
  std::optional<PendingCall>& pending = scratch_.get().pending_call;
  if (!pending || pending->op.get() != &call) {
    throw InvalidArgument(
        "undo_with: use it in the expression that makes the call: ctx.call(..).undo_with(..)");
  }
  try {
    require(check_id("undo activity name", name));
    require_options(options);
  } catch (const InvalidArgument&) {
    pending.reset();
    resolve(detail::OpRef(&call), detail::OpState::kCanceled);
    throw;
  }
  call.on_cancel = OnCancel::kWait;
  pending->work.on_cancel = OnCancel::kWait;
  HistoryEvent event = command(EventKind::kUndoOwed, name);
  event.source = EventId{call.event};
  event.text = std::string(options.queue);
  event.payload = encode_undo_policy(options);
  const auto recorded = record_command(std::move(event));
  if (!recorded) return;
  rare_.get().undos.add(*recorded);
}

detail::OpRef Execution::call_child(detail::ChildCall call) {
  check_read_only();
  if (stopped()) return never();
  check_scope();
  require(check_id("orchestration name", call.name));
  require_options(call.options);
  record_pending_call();
  const std::string id = child_id(call.options);
  require(check_id("child id", id));
  HistoryEvent event = command(EventKind::kChildScheduled, call.name);
  event.text = id;
  event.number = hash_of(call.input);
  event.payload = call.input;
  const auto recorded = record_command(std::move(event));
  if (!recorded) return never();
  detail::OpRef op = add_op(detail::OpKind::kChild, recorded->id, call.name);
  op->on_cancel = call.options.on_cancel;
  op->close_policy = call.options.close_policy;
  if (mode_ == Mode::kLive) {
    NewChild child;
    child.event = recorded->id;
    child.id = id;
    child.name = std::string(call.name);
    child.version = stored_version(call.options.version);
    child.queue = queue_or_own(call.options.queue);
    child.input = std::move(call.input);
    child.close_policy = call.options.close_policy;
    child.shielded = current_scope().shielded;
    child.on_reuse = call.options.on_reuse;
    decisions().children.push_back(std::move(child));
  }
  if (call.options.timeout > Duration::zero()) limit_call(recorded->id, call.options);
  return op;
}

std::string Execution::child_id(const ChildOptions& options) const {
  if (!options.id.empty()) return std::string(options.id);
  return spec_.instance_id + "/" + std::to_string(spec_.execution.value) + "." +
         std::to_string(journal_.next_id().value);
}

/// The time limit of a child is a timer of the parent, recorded right behind the call.
void Execution::limit_call(EventId call, const ChildOptions& options) {
  HistoryEvent event = command(EventKind::kTimerCreated);
  event.source = call;
  const TimePoint due = add(now_, options.timeout);
  event.number = to_micros(due);
  const auto timer = record_command(std::move(event));
  if (!timer) return;
  rare_.get().limits[timer->id.value] = call.value;
  rare_.get().limit_of[call.value] = timer->id.value;
  if (mode_ == Mode::kLive) {
    decisions().timers.push_back({timer->id, due, current_scope().shielded});
  }
}

void Execution::start_detached(detail::DetachedCall call) {
  check_read_only();
  if (stopped()) return;
  check_scope();
  require(check_id("orchestration name", call.name));
  require(check_id("id", call.id));
  require_options(call.options);
  HistoryEvent event = command(EventKind::kDetachedStarted, call.name);
  event.text = std::string(call.id);
  event.payload = call.input;
  const auto recorded = record_command(std::move(event));
  if (!recorded || mode_ != Mode::kLive) return;
  NewChild child;
  child.event = recorded->id;
  child.id = std::string(call.id);
  child.name = std::string(call.name);
  child.version = stored_version(call.options.version);
  child.queue = queue_or_own(call.options.queue);
  child.input = std::move(call.input);
  child.detached = true;
  child.on_reuse = call.options.on_reuse;
  if (call.options.delay > Duration::zero()) child.start_at = add(now_, call.options.delay);
  if (call.options.run_timeout > Duration::zero()) {
    child.deadline = add(std::max(now_, child.start_at), call.options.run_timeout);
  }
  decisions().children.push_back(std::move(child));
}

detail::OpRef Execution::start_timer(Duration delay) {
  require_not_negative("timer", delay);
  return timer_due(add(now_, delay));
}

detail::OpRef Execution::start_timer_at(TimePoint due) {
  return timer_due(due);
}

detail::OpRef Execution::timer_due(TimePoint due) {
  check_read_only();
  if (stopped()) return never();
  check_scope();
  HistoryEvent event = command(EventKind::kTimerCreated);
  event.number = to_micros(due);
  const auto recorded = record_command(std::move(event));
  if (!recorded) return never();
  if (mode_ == Mode::kLive) {
    decisions().timers.push_back({recorded->id, due, current_scope().shielded});
  }
  return add_op(detail::OpKind::kTimer, recorded->id, "timer");
}

detail::OpRef Execution::wait_for_event(std::string_view name) {
  check_read_only();
  if (stopped()) return never();
  check_scope();
  require(check_id("event name", name));
  const auto recorded = record_command(command(EventKind::kEventSubscribed, name));
  if (!recorded) return never();
  detail::OpRef op = add_op(detail::OpKind::kEvent, recorded->id, name);
  hand_out(rare_.get().inbox.subscribe(op));
  return op;
}

void Execution::continue_as_new(std::string input, std::optional<std::string> version) {
  check_read_only();
  if (stopped()) return;
  check_scope();
  if (current_scope().supervised) {
    log(kWarningLevel, "a message handler asked to continue as new");
    throw InvalidArgument("continue_as_new: main alone decides it, not a message handler");
  }
  // Not under a shield either: a run that is canceled, fails or has ended has no next life.
  if (root_->canceled) throw Canceled(root_->reason);
  if (version) {
    require_version("version", *version);
    version = stored_version(*version);
  }
  ending_.get().next = NextExecution{std::move(input), std::move(version), {}};
  code_stopped_ = true;
}

}  // namespace perdure::replay
