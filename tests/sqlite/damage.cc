#include "tests/sqlite/damage.h"

#include <stdexcept>

namespace perdure::conformance {

namespace {

using Table = RowRef::Table;
using Damage = RowRef::Damage;

/// Where each table can be damaged; an empty column: not in this way.
struct Columns {
  const char* table;
  const char* code;
  const char* number;   ///< gets a text
  const char* counted;  ///< gets -1
  const char* text;     ///< gets bytes that are no UTF-8
};

Columns columns_of(Table table) {
  switch (table) {
    case Table::kHistory:
      return {"history", "kind", "number", "source_event", "payload"};
    case Table::kMessage:
      return {"orchestrator_queue", "kind", "visible_at", "execution", "payload"};
    case Table::kWork:
      return {"worker_queue", "on_cancel", "owner_event", "losses", "input"};
    case Table::kExecution:
      return {"executions", "status", "last_event", "last_turn", "output"};
    case Table::kInstance:
      return {"instances", "", "current_execution", "current_execution", "name"};
    case Table::kLine:
      return {"instance_ready", "", "not_before", "losses", ""};
    case Table::kProcess:
      return {"processes", "", "pid", "heartbeat", "host"};
    case Table::kRequest:
      return {"requests", "answer", "execution", "instance_key", ""};
    case Table::kRunRequest:
      return {"requests", "answer", "execution", "instance_key", "name"};
    case Table::kPendingStart:
      return {"pending_starts", "", "delay", "", "name"};
    case Table::kCascade:
      return {"cascades", "operation", "execution", "execution", "reason"};
    case Table::kRemoval:
      return {"removals", "forced", "forced", "", ""};
    case Table::kChange:
      return {"changes", "kind", "at", "execution", ""};
    case Table::kEarlyEvent:
      return {"early_events", "", "visible_at", "", "name"};
    case Table::kKeptSignal:
      return {"kept_signals", "", "event_id", "event_id", "name"};
    case Table::kDeclaredSignal:
      return {"declared_signals", "", "epoch", "epoch", "name"};
  }
  throw std::runtime_error("unknown table");
}

std::string quoted(const std::string& text) {
  return "'" + text + "'";
}

std::string row_of(const RowRef& row) {
  const std::string key = std::to_string(row.instance.value);
  switch (row.table) {
    case Table::kHistory:
      return "instance_key = " + key + " AND event_id = " + std::to_string(row.event.value);
    case Table::kMessage:
      return "message_id = (SELECT min(message_id) FROM orchestrator_queue WHERE instance_key = " +
             key + ")";
    case Table::kWork:
      return "work_id = " + std::to_string(row.work.value);
    case Table::kExecution:
      return "instance_key = " + key +
             " AND execution = (SELECT current_execution FROM instances WHERE instance_key = " +
             key + ")";
    case Table::kProcess:
      return "epoch = " + std::to_string(row.epoch.value);
    case Table::kRequest:
      return "request_id = " + quoted(row.text_key);
    case Table::kRunRequest:
      return "request_id = " +
             quoted(std::string(to_string(row.kind)) + "/" + key + "/" + row.text_key);
    case Table::kChange:
      return "change_seq = " + std::to_string(row.change.value);
    case Table::kEarlyEvent:
      return "instance_id = " + quoted(row.text_key);
    case Table::kDeclaredSignal:
      return "epoch = " + std::to_string(row.epoch.value) + " AND name = " + quoted(row.text_key);
    default:
      return "instance_key = " + key;
  }
}

}  // namespace

std::optional<std::string> damage(const RowRef& row) {
  const Columns columns = columns_of(row.table);
  std::string column;
  std::string value;
  switch (row.damage) {
    case Damage::kUnknownCode:
      column = columns.code;
      value = "999";
      break;
    case Damage::kWrongType:
      column = columns.number;
      value = "'junk'";
      break;
    case Damage::kTooSmall:
      column = columns.counted;
      value = "-1";
      break;
    case Damage::kBadText:
      column = columns.text;
      value = "x'ff00'";
      break;
  }
  if (column.empty()) return std::nullopt;
  return "UPDATE " + std::string(columns.table) + " SET " + column + " = " + value + " WHERE " +
         row_of(row);
}

}  // namespace perdure::conformance
