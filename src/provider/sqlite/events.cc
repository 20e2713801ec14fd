#include "provider/rules/start_rule.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/request_log.h"
#include "provider/sqlite/rows.h"

namespace perdure::sqlite {

bool is_unknown(Connection& db, const InstanceRow& instance, const std::string& signal) {
  const ExecutionRow execution = load_current(db, instance);
  return execution.had_turn() && !is_terminal(execution.info.status) &&
         is_declared(db, instance, "") && !is_declared(db, instance, signal);
}

namespace {

EventDelivery deliver(WriteContext& context, const RaiseEvent& request) {
  const TimePoint visible_at = add(context.now, request.delay);
  const auto instance = find_instance(context.db, request.id);
  if (instance) {
    check_line(context.db, instance->key);
    if (request.as_signal && is_unknown(context.db, *instance, request.name)) {
      return EventDelivery::kUnknown;
    }
    Message message;
    message.kind = request.as_signal ? MessageKind::kSignal : MessageKind::kEventRaised;
    message.name = request.name;
    message.payload = request.payload;
    message.visible_at = visible_at;
    return enqueue(context, instance->key, message) ? EventDelivery::kDelivered
                                                    : EventDelivery::kEnded;
  }
  if (request.buffer_for <= Duration::zero()) return EventDelivery::kNotFound;
  context.db.run(Sql::kInsertEarlyEvent,
                 request.id,
                 request.name,
                 or_null(request.payload),
                 visible_at,
                 add(context.now, request.buffer_for));
  return EventDelivery::kBuffered;
}

}  // namespace

Result<EventDelivery> raise_event(WriteContext& context, const RaiseEvent& request) {
  PERDURE_RETURN_IF_ERROR(rules::check(request));
  const RequestKind kind = request.as_signal ? RequestKind::kSignal : RequestKind::kRaiseEvent;
  PERDURE_ASSIGN_OR_RETURN(const auto before, find_answer(context.db, kind, request.request_id));
  if (before) {
    return *from_code<EventDelivery>(before->answer);
  }
  const EventDelivery delivery = deliver(context, request);
  // An event that reached nobody may be sent again under the same id.
  if (delivery == EventDelivery::kDelivered || delivery == EventDelivery::kBuffered) {
    keep_answer(context, kind, request.request_id, {{}, {}, code(delivery), true, 0, false});
  }
  return delivery;
}

}  // namespace perdure::sqlite
