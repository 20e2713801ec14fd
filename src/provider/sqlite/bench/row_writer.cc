#include "provider/sqlite/bench/row_writer.h"

#include "model/event.h"
#include "model/message.h"
#include "model/status.h"
#include "provider/sqlite/rows.h"

namespace perdure::sqlite {

namespace {

constexpr std::int64_t kFirstEvent = 1;
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
          0);
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
          kFirstEvent,
          now);
  db_.run(Sql::kInsertEvent,
          key,
          kExecution,
          kFirstEvent,
          EventKind::kStarted,
          0,
          name,
          kPayload,
          nullptr,
          0,
          nullptr,
          nullptr,
          true,
          nullptr,
          now);
  db_.run(Sql::kInsertReady, key, kQueue, name, "", nullptr, 0, 0);
  return key;
}

void RowWriter::add_message(std::int64_t key, TimePoint now, TimePoint due) {
  db_.run(Sql::kInsertMessage,
          key,
          due > now ? MessageKind::kTimerFired : MessageKind::kEventRaised,
          kExecution,
          kFirstEvent,
          "approved",
          kPayload,
          nullptr,
          nullptr,
          nullptr,
          true,
          nullptr,
          false,
          due);
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
