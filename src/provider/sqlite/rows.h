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
#include "provider/sqlite/connection.h"

/// Rows as values. A row with a number that this version does not know, or a column of the wrong
/// type, is thrown as a SqliteError that becomes Corrupt and names table and key.
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
};

struct ExecutionRow {
  ExecutionInfo info;
  ChangeSeq last_change;

  bool had_turn() const { return info.last_turn.serial != 0; }
};

/// The line in front of an instance, and its lock.
struct ReadyRow {
  std::string queue;
  std::optional<TimePoint> ready_at;
  TimePoint not_before{};
  std::optional<LockToken> lock;
  TimePoint locked_until{};
  TimePoint marked_until{};  ///< no marked message is visible later
  int losses = 0;
  int deferrals = 0;
};

std::optional<InstanceRow> find_instance(Connection& db, const std::string& id);
std::optional<InstanceRow> load_instance(Connection& db, InstanceKey key);
std::optional<ExecutionRow> load_execution(Connection& db, InstanceKey key, ExecutionNo execution);
std::optional<ReadyRow> load_ready(Connection& db, InstanceKey key);

/// A row of Sql::kReadHistory.
Event read_event(const Query& row, InstanceKey key);
/// A row of Sql::kVisibleMessages.
Message read_message(const Query& row);
/// A row of Sql::kLoadClaimed; lock and lease are the caller's to fill in.
WorkItem read_work(const Query& row, WorkId id);

/// The four columns of a failure, from `column` on.
Failure read_failure(const Query& row, int column);

/// "All of them" for a LIMIT, with room for one more.
inline constexpr std::size_t kNoLimit = 1U << 31U;

/// Empty texts are stored as NULL.
inline std::optional<std::string_view> or_null(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return std::string_view(text);
}

[[noreturn]] void throw_corrupt(std::string_view table, std::int64_t key, std::string_view what);

}  // namespace perdure::sqlite
