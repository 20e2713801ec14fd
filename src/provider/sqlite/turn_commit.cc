#include "provider/rules/start_rule.h"
#include "provider/rules/turn_rule.h"
#include "provider/sqlite/kept_signals.h"
#include "provider/sqlite/lifecycle.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/rows.h"
#include "provider/sqlite/run_requests.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/work_rows.h"

namespace perdure::sqlite {

namespace {

/// One commit under way: what was read for the fence, and what it answers.
struct Turn {
  const TurnCommit& commit;
  InstanceRow instance;
  ExecutionRow execution;
  ReadyRow ready;
  TurnCommitted answer;

  EventId last_event() const {
    return EventId{execution.info.last_event.value +
                   static_cast<std::int64_t>(commit.events.size())};
  }
};

Error not_held(const TurnCommit& commit) {
  return lock_lost("instance " + std::to_string(commit.instance.value) +
                   " is not locked by token " + to_string(commit.lock) + " any more");
}

/// All fences and checks, before the first write.
Result<Turn> check_fences(WriteContext& context, const TurnCommit& commit) {
  auto ready = load_ready(context.db, commit.instance);
  if (!ready || ready->lock != commit.lock || ready->locked_until <= context.now) {
    return not_held(commit);
  }
  if (ready->problem) return *ready->problem;
  PERDURE_RETURN_IF_ERROR(check_epoch(context.db, commit.lock.epoch));
  auto instance = load_instance(context.db, commit.instance);
  if (!instance || instance->current != commit.execution) return not_held(commit);
  auto execution = load_execution(context.db, commit.instance, commit.execution);
  if (!execution) return not_held(commit);
  if (execution->info.cancel_requested_at) {
    Query row = context.db.query(
        Sql::kUnconsumedCancel, commit.instance, commit.lock.epoch, commit.lock.serial);
    if (row.next()) {
      return conflict("instance '" + instance->id +
                      "' was canceled while the turn was under way: fetch it again");
    }
  }
  PERDURE_RETURN_IF_ERROR(rules::check(commit, execution->info.status, execution->info.last_event));
  return Turn{commit, std::move(*instance), std::move(*execution), std::move(*ready), {}};
}

/// Whether the execution has ended with the status of the commit; with any, when its row cannot be
/// read, so that whoever asked can be told. NotFound when it is gone.
Result<bool> has_ended_so(Connection& db, const TurnCommit& commit) {
  std::optional<ExecutionNo> current;
  {
    Query row = db.query(Sql::kCurrentExecution, commit.instance);
    if (row.next()) current = row.id<ExecutionNo>(0);
  }
  std::optional<ExecutionRow> execution;
  try {
    if (current) execution = load_execution(db, commit.instance, commit.execution);
  } catch (const SqliteError& error) {
    if (!is_corrupt(error)) throw;
    // One that has ended has no line.
    return commit.execution != *current || !load_ready(db, commit.instance);
  }
  if (execution) return execution->info.status == commit.status;
  return not_found("instance " + std::to_string(commit.instance.value) + " has no execution " +
                   std::to_string(commit.execution.value));
}

/// What the turn has looked at goes, but for what it leaves to the next execution.
void consume_messages(WriteContext& context, const Turn& turn) {
  const TurnCommit& commit = turn.commit;
  for (MessageId kept : commit.kept_messages) {
    context.db.run(
        Sql::kUnmarkMessage, kept, commit.instance, commit.lock.epoch, commit.lock.serial);
  }
  context.db.run(Sql::kDeleteMarked,
                 commit.instance,
                 turn.ready.marked_until,
                 commit.lock.epoch,
                 commit.lock.serial);
}

void store_history(WriteContext& context, const Turn& turn) {
  const TurnCommit& commit = turn.commit;
  for (const HistoryEvent& event : commit.events) {
    append_event(context, commit.instance, commit.execution, event);
  }
  const bool kept = note_kept_signals(context, commit.instance, commit.events);
  if (kept && commit.status == ExecutionStatus::kRunning) {
    const std::string version = commit.version.value_or(turn.instance.version);
    wake_for_declared(context, turn.instance, version, commit.events);
  }
  const ExecutionInfo& before = turn.execution.info;
  context.db.run(Sql::kCommitExecution,
                 commit.instance,
                 commit.execution,
                 commit.status,
                 or_null(commit.custom_status.value_or(before.custom_status)),
                 before.custom_status_version + (commit.custom_status ? 1 : 0),
                 turn.last_event(),
                 commit.lock.epoch,
                 commit.lock.serial,
                 or_null(commit.engine_version));
  if (commit.version && *commit.version != turn.instance.version) {
    context.db.run(Sql::kSetInstanceVersion, commit.instance, *commit.version);
    context.db.run(Sql::kServeAs, commit.instance, *commit.version);
  }
}

/// New rows before dropped ones: a call that was made and dropped in one turn leaves nothing.
void store_work(WriteContext& context, Turn& turn) {
  const TurnCommit& commit = turn.commit;
  for (const NewWork& work : commit.work) {
    insert_work(context, commit.instance, commit.execution, work);
  }
  for (EventId event : commit.canceled_work) {
    cancel_work_of(context,
                   commit.instance,
                   commit.execution,
                   event,
                   rules::CancelCause::kCallDropped,
                   turn.answer.touched);
  }
}

void store_timers(WriteContext& context, const TurnCommit& commit) {
  for (const NewTimer& timer : commit.timers) {
    Message message;
    message.kind = MessageKind::kTimerFired;
    message.execution = commit.execution;
    message.source = timer.event;
    message.visible_at = std::max(timer.due, context.now);
    enqueue(context, commit.instance, message, timer.shielded);
  }
  for (EventId event : commit.canceled_timers) {
    context.db.run(Sql::kDeleteTimer, commit.instance, commit.execution, event);
  }
  if (commit.drain_at) {
    Message message;
    message.kind = MessageKind::kDrainDeadline;
    message.execution = commit.execution;
    message.visible_at = std::max(*commit.drain_at, context.now);
    enqueue(context, commit.instance, message);
  }
}

void refuse_child(WriteContext& context, Turn& turn, const NewChild& child, const Error& why) {
  Message message;
  message.kind = MessageKind::kChildStartFailed;
  message.execution = turn.commit.execution;
  message.source = child.event;
  message.text = why.message;
  message.visible_at = context.now;
  enqueue(context, turn.commit.instance, message);
  turn.answer.refused_children.push_back(child.event);
}

void start_child(WriteContext& context, Turn& turn, const NewChild& child) {
  const auto existing = find_instance(context.db, child.id);
  std::optional<ExecutionStatus> status;
  if (existing) status = load_current(context.db, *existing).info.status;
  const auto step = rules::decide_start(child.id, status, OnConflict::kFail, child.on_reuse);
  if (!step.ok()) return refuse_child(context, turn, child, step.error());
  ExecutionSpec spec;
  spec.name = child.name;
  spec.version = child.version;
  spec.queue = child.queue;
  spec.input = child.input;
  spec.priority = child.priority;
  spec.start_at = child.start_at;
  spec.deadline = child.deadline;
  std::optional<ParentLink> parent;
  if (!child.detached) {
    parent = ParentLink{turn.commit.instance,
                        turn.commit.execution,
                        child.event,
                        child.close_policy,
                        child.shielded};
  }
  begin_instance(context, child.id, existing, parent, std::move(spec));
}

void store_children(WriteContext& context, Turn& turn) {
  const TurnCommit& commit = turn.commit;
  for (const NewChild& child : commit.children) start_child(context, turn, child);
  TakedownOrder order;
  order.reason = "dropped by parent '" + turn.instance.id + "'";
  order.cleanup_timeout = commit.cleanup_timeout;
  for (EventId event : commit.canceled_children) {
    std::optional<std::pair<InstanceKey, ExecutionNo>> child;
    {
      Query row = context.db.query(Sql::kChildByEvent, commit.instance, commit.execution, event);
      if (row.next()) child.emplace(row.id<InstanceKey>(0), row.id<ExecutionNo>(1));
    }
    if (!child) continue;
    TreeReach reach;
    take_down_other(context, child->first, order, reach);
    take_down_descendants(context, child->first, child->second, order, reach);
    turn.answer.touched.insert(
        turn.answer.touched.end(), reach.touched.begin(), reach.touched.end());
  }
}

void send_events(WriteContext& context, const TurnCommit& commit) {
  for (const OutgoingEvent& event : commit.raised) {
    const auto target = find_key(context.db, event.id);
    if (!target) continue;
    Message message;
    message.kind = MessageKind::kEventRaised;
    message.name = event.name;
    message.payload = event.payload;
    message.visible_at = context.now;
    enqueue(context, *target, message);
  }
}

ExecutionEnd end_of(const Turn& turn) {
  const TurnCommit& commit = turn.commit;
  ExecutionEnd end;
  end.status = commit.status;
  end.output = commit.output;
  end.failure = commit.failure;
  end.last_event = turn.last_event();
  end.cleanup_timeout = commit.cleanup_timeout;
  if (commit.status == ExecutionStatus::kCanceled) end.reason = turn.execution.info.cancel_reason;
  return end;
}

void continue_as_new(WriteContext& context, Turn& turn) {
  const TurnCommit& commit = turn.commit;
  end_before_next(context, turn.instance, turn.execution, end_of(turn), turn.answer.touched);
  ExecutionSpec spec;
  spec.execution = ExecutionNo{commit.execution.value + 1};
  spec.name = turn.instance.name;
  spec.version = commit.next->version.value_or(commit.version.value_or(turn.instance.version));
  spec.queue = turn.instance.queue;
  spec.input = commit.next->input;
  spec.priority = turn.instance.priority;
  spec.deadline = turn.execution.info.deadline;
  spec.custom_status = commit.custom_status.value_or(turn.execution.info.custom_status);
  spec.custom_status_version =
      turn.execution.info.custom_status_version + (commit.custom_status ? 1 : 0);
  spec.carried = commit.next->carried;
  spec.continues = turn.last_event();
  context.db.run(Sql::kContinueInstance, commit.instance, spec.execution, spec.version);
  context.db.run(Sql::kServeAs, commit.instance, spec.version);
  begin_execution(context, commit.instance, spec);
}

/// The lock goes; the line says when the instance wants its next turn. Answers when that is.
std::optional<TimePoint> release(WriteContext& context, const Turn& turn) {
  const auto earliest = queue_head(context.db, turn.commit.instance).due();
  context.db.run(Sql::kUnlockAfterTurn, turn.commit.instance, earliest);
  context.topics.instances(turn.ready.queue);
  return earliest;
}

/// When the instance wants its next turn after an end: there is a line when a start was stored.
std::optional<TimePoint> due_after_end(WriteContext& context, InstanceKey key) {
  const auto ready = load_ready(context.db, key);
  if (!ready || !ready->ready_at) return std::nullopt;
  return std::max(*ready->ready_at, ready->not_before);
}

Result<TurnCommitted> answer_for_ended(WriteContext& context, const TurnCommit& commit) {
  PERDURE_RETURN_IF_ERROR(rules::check_replies_alone(commit));
  write_replies(context, commit.instance, commit.replies);
  return TurnCommitted();
}

void pass_points_of(const TurnCommit& commit) {
  pass_failpoint("store.ack");
  if (!commit.children.empty()) pass_failpoint("store.child_start");
  if (commit.next) pass_failpoint("store.continue_as_new");
  if (!commit.canceled_work.empty()) pass_failpoint("store.drop");
}

}  // namespace

Result<TurnCommitted> commit_turn(WriteContext& context, const TurnCommit& commit) {
  pass_points_of(commit);
  if (rules::is_for_ended(commit)) {
    PERDURE_ASSIGN_OR_RETURN(const bool ended, has_ended_so(context.db, commit));
    if (ended) return answer_for_ended(context, commit);
  }
  PERDURE_ASSIGN_OR_RETURN(Turn turn, check_fences(context, commit));
  consume_messages(context, turn);
  store_history(context, turn);
  store_work(context, turn);
  store_timers(context, commit);
  store_children(context, turn);
  send_events(context, commit);
  write_replies(context, commit.instance, commit.replies);
  const bool continues = commit.status == ExecutionStatus::kContinuedAsNew;
  const bool ends = is_terminal(commit.status) && !continues;
  if (continues) {
    continue_as_new(context, turn);
  } else if (ends) {
    end_execution(context, turn.instance, turn.execution, end_of(turn), turn.answer.touched);
  } else if (commit.status != turn.execution.info.status) {
    announce_status(context, commit.instance, commit.execution, commit.status);
  }
  const auto due = ends ? due_after_end(context, commit.instance) : release(context, turn);
  turn.answer.more_now = due && *due <= context.now;
  if (due && !turn.answer.more_now) turn.answer.next_at = due;
  return std::move(turn.answer);
}

}  // namespace perdure::sqlite
