#include "provider/rules/start_rule.h"
#include "provider/sqlite/operations.h"
#include "provider/sqlite/outbox.h"
#include "provider/sqlite/request_log.h"
#include "provider/sqlite/rows.h"

namespace perdure::sqlite {

namespace {

EventDelivery deliver(WriteContext& context, const RaiseEvent& request) {
  const TimePoint visible_at = add(context.now, request.delay);
  const auto instance = find_instance(context.db, request.id);
  if (instance) {
    check_line(context.db, instance->key);
    Message message;
    message.kind = MessageKind::kEventRaised;
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
  PERDURE_ASSIGN_OR_RETURN(const auto before,
                           find_answer(context.db, RequestKind::kRaiseEvent, request.request_id));
  if (before) {
    return *from_code<EventDelivery>(before->answer);
  }
  const EventDelivery delivery = deliver(context, request);
  // An event that reached nobody may be sent again under the same id.
  if (delivery == EventDelivery::kDelivered || delivery == EventDelivery::kBuffered) {
    keep_answer(context,
                RequestKind::kRaiseEvent,
                request.request_id,
                {{}, {}, code(delivery), true, 0, false});
  }
  return delivery;
}

}  // namespace perdure::sqlite
