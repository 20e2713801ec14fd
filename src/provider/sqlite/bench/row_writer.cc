#include "provider/sqlite/bench/row_writer.h"

#include "model/status.h"
#include "provider/sqlite/rows.h"

namespace perdure::sqlite {

namespace {

constexpr const char* kPayload = R"({"order":"A-1001","cents":1999})";

}  // namespace

std::int64_t RowWriter::add_instance(const std::string& name, TimePoint now) {
  db_.run(Sql::kInsertInstance,
          "run-" + std::to_string(++added_),
          name,
          "",
          kQueue,
          kExecution,
          nullptr,
          nullptr,
          nullptr,
          nullptr,
          now,
          0,
          false);
  const std::int64_t key = db_.last_insert_id();
  db_.run(Sql::kInsertExecution,
          key,
          kExecution,
          ExecutionStatus::kRunning,
          nullptr,
          nullptr,
          0,
          nullptr,
          nullptr,
          kStartedEvent,
          now);
  HistoryEvent started;
  started.kind = EventKind::kStarted;
  started.name = name;
  started.payload = kPayload;
  add_event(key, kStartedEvent, started, now);
  db_.run(Sql::kInsertReady, key, kQueue, name, "", nullptr, 0, 0, nullptr);
  return key;
}

void RowWriter::add_event(std::int64_t key,
                          std::int64_t id,
                          const HistoryEvent& event,
                          TimePoint now) {
  db_.run(Sql::kInsertEvent,
          key,
          kExecution,
          id,
          event.kind,
          event.source,
          or_null(event.name),
          or_null(event.payload),
          or_null(event.text),
          event.number,
          nullptr,
          nullptr,
          true,
          nullptr,
          now);
}

void RowWriter::insert_message(std::int64_t key, MessageKind kind, TimePoint due) {
  db_.run(Sql::kInsertMessage,
          key,
          kind,
          kExecution,
          kStartedEvent,
          "approved",
          kPayload,
          nullptr,
          nullptr,
          nullptr,
          true,
          nullptr,
          false,
          due);
}

void RowWriter::add_message(std::int64_t key, TimePoint now, TimePoint due) {
  insert_message(key, due > now ? MessageKind::kTimerFired : MessageKind::kEventRaised, due);
  db_.run(Sql::kLowerReady, key, due);
}

void RowWriter::add_work(
    std::int64_t key, std::int64_t event, const NewWork& work, TimePoint now, TimePoint due) {
  db_.run(Sql::kInsertWork,
          key,
          kExecution,
          event,
          work.queue,
          work.name,
          or_null(work.input),
          work.priority,
          due > now ? WorkState::kDelayed : WorkState::kReady,
          due,
          work.on_cancel,
          work.shielded,
          work.retry.max_attempts,
          work.retry.first_delay,
          work.retry.backoff,
          work.retry.max_delay,
          work.retry.jitter,
          nullptr,
          work.timeouts.start_to_close,
          work.timeouts.schedule_to_start,
          work.timeouts.schedule_to_close,
          work.timeouts.heartbeat,
          nullptr,
          now);
}

}  // namespace perdure::sqlite
