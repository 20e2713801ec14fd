#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "model/event.h"
#include "model/message.h"
#include "model/work_item.h"
#include "provider/sqlite/connection.h"

namespace perdure::sqlite {

/// Rows that a bench finds in the queues, written by the provider's statements without asking
/// anything. All belong to execution 1 and stand in the queue "default". Inside a transaction of
/// the caller; throws SqliteError.
class RowWriter {
 public:
  static constexpr const char* kQueue = "default";
  static constexpr std::int64_t kExecution = 1;
  static constexpr std::int64_t kStartedEvent = 1;

  explicit RowWriter(Connection& db) : db_(db) {}

  /// Instance, execution, its started event and its line; no message yet. Answers the key.
  std::int64_t add_instance(const std::string& name, TimePoint now);
  void add_event(std::int64_t key, std::int64_t id, const HistoryEvent& event, TimePoint now);
  /// A message, and nothing else.
  void insert_message(std::int64_t key, MessageKind kind, TimePoint due);
  /// A message, which also makes the instance due then: a timer when that is later than now.
  void add_message(std::int64_t key, TimePoint now, TimePoint due);
  /// The work of an event; delayed when `due` is later than now.
  void add_work(
      std::int64_t key, std::int64_t event, const NewWork& work, TimePoint now, TimePoint due);

 private:
  Connection& db_;
  std::int64_t added_ = 0;
};

}  // namespace perdure::sqlite
