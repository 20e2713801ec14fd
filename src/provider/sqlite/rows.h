#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "model/event.h"
#include "model/failure.h"
#include "model/message.h"
#include "model/work_item.h"
#include "provider/orchestration_requests.h"
#include "provider/read_requests.h"
#include "provider/sqlite/checked_row.h"
#include "provider/sqlite/connection.h"

/// Rows as values, read through CheckedRow: one that is damaged is thrown.
namespace perdure::sqlite {

struct InstanceRow {
  InstanceKey key;
  std::string id;
  std::string name;
  std::string version;
  std::string queue;
  ExecutionNo current;
  std::optional<ParentLink> parent;
  TimePoint created_at{};
  int priority = 0;
};

struct ExecutionRow {
  ExecutionInfo info;
  ChangeSeq last_change;

  bool had_turn() const { return info.last_turn.serial != 0; }
};

/// The line in front of an instance, and its lock. Lines can be made anew from the messages, and
/// others must be able to write to an instance whose line is damaged: a problem is not thrown.
struct ReadyRow {
  std::string queue;
  std::optional<TimePoint> ready_at;
  TimePoint not_before{};
  std::optional<TimePoint> cleanup_at;  ///< from when on the run needs no code to end: its
                                        ///< deadline; once canceled, the end of its cleanup
  std::optional<LockToken> lock;
  TimePoint locked_until{};
  TimePoint marked_until{};  ///< no marked message is visible later
  int losses = 0;
  int deferrals = 0;
  int priority = 0;
  std::optional<Error> problem;  ///< a column cannot be read; lock and queue are read first
};

std::optional<InstanceRow> find_instance(Connection& db, const std::string& id);
std::optional<InstanceRow> load_instance(Connection& db, InstanceKey key);
std::optional<ExecutionRow> load_execution(Connection& db, InstanceKey key, ExecutionNo execution);
/// The current execution of an instance; one that is missing is thrown like one that is damaged.
ExecutionRow load_current(Connection& db, const InstanceRow& instance);
std::optional<ReadyRow> load_ready(Connection& db, InstanceKey key);

/// What is wrong with the line of a live instance, if anything: without one it takes no turns.
std::optional<Error> line_problem(Connection& db, InstanceKey key);
/// The key behind an id, whatever else of the row is damaged.
std::optional<InstanceKey> find_key(Connection& db, const std::string& id);
/// Whether somebody may wait in this execution: it is the current one of its instance, or that
/// cannot be read.
bool may_wait(Connection& db, InstanceKey key, ExecutionNo execution);

/// A row of Sql::kReadHistory.
HistoryEvent read_event(const Query& row, InstanceKey key, ExecutionNo execution);
/// A row of Sql::kVisibleMessages.
Message read_message(const Query& row);
/// The owner in a row of Sql::kLoadClaimed or Sql::kLoadSettling.
WorkOwner read_owner(const Query& row, WorkId id);
/// A row of Sql::kLoadClaimed; lock and lease are the caller's to fill in.
WorkItem read_work(const Query& row, WorkId id);

/// "All of them" for a LIMIT, with room for one more.
inline constexpr std::size_t kNoLimit = 1U << 31U;

/// Empty texts are stored as NULL.
inline std::optional<std::string_view> or_null(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return std::string_view(text);
}

}  // namespace perdure::sqlite
