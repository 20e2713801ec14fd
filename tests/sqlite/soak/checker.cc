#include "tests/sqlite/soak/checker.h"

#include <chrono>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "provider/sqlite/connection.h"
#include "tests/sqlite/crash/store_rows.h"
#include "tests/sqlite/soak/flow.h"

namespace perdure::sqlite::soak {

namespace {

/// Finds calls of runs that nobody has canceled which are not in exactly one place: a work row, a
/// message, an event that answers, a child that lives.
constexpr std::string_view kMisplacedCalls = R"sql(
SELECT c.instance_key || '/' || c.execution || '/' || c.event_id
FROM history c JOIN executions e USING (instance_key, execution)
WHERE c.kind IN (10, 20, 40) AND e.cancel_requested_at IS NULL AND 1 <>
    (SELECT count(*) FROM worker_queue w WHERE w.owner_kind = 1
     AND w.owner_key = c.instance_key AND w.owner_execution = c.execution
     AND w.owner_event = c.event_id)
  + (SELECT count(*) FROM orchestrator_queue q WHERE q.instance_key = c.instance_key
     AND q.execution = c.execution AND q.source_event = c.event_id AND q.kind BETWEEN 2 AND 11)
  + (SELECT count(*) FROM history a WHERE a.instance_key = c.instance_key
     AND a.execution = c.execution AND a.source_event = c.event_id)
  + (SELECT count(*) FROM instances i JOIN executions s
       ON s.instance_key = i.instance_key AND s.execution = i.current_execution
     WHERE i.parent_key = c.instance_key AND i.parent_execution = c.execution
     AND i.parent_event = c.event_id AND s.status < 5)
)sql";

/// Finds instances with a message that no fetch would ever look at.
constexpr std::string_view kOutOfLine = R"sql(
SELECT DISTINCT q.instance_key FROM orchestrator_queue q WHERE NOT EXISTS
  (SELECT 1 FROM instance_ready r WHERE r.instance_key = q.instance_key
   AND (r.ready_at IS NOT NULL OR r.lock_token IS NOT NULL))
)sql";

/// Finds live runs that have had no turn and will get none.
constexpr std::string_view kNeverBegun = R"sql(
SELECT e.instance_key FROM executions e WHERE e.status < 5 AND e.last_turn = 0 AND NOT EXISTS
  (SELECT 1 FROM orchestrator_queue q WHERE q.instance_key = e.instance_key AND q.kind = 1)
)sql";

/// One state of the store, as far as the ledger speaks of it.
class Snapshot {
 public:
  explicit Snapshot(Connection& db) {
    Query run = db.query_text(
        "SELECT i.id, e.status FROM instances i LEFT JOIN executions e "
        "ON e.instance_key = i.instance_key AND e.execution = i.current_execution");
    while (run.next()) statuses_[run.text(0)] = run.is_null(1) ? 0 : run.integer(1);
    Query request = db.query_text("SELECT request_id FROM requests");
    while (request.next()) requests_.insert(request.text(0));
    // 11 and 2: results; 31 and 6: raised events; 61: what a turn begins with.
    Query event = db.query_text(
        "SELECT instance_key, execution, event_id, kind, payload FROM history "
        "WHERE kind IN (11, 31, 61)");
    while (event.next()) {
      if (event.integer(3) == 61) {
        turns_[{event.integer(0), event.integer(1), event.integer(2)}] = event.text(4);
      } else {
        ++traces_[event.text(4)];
      }
    }
    Query message = db.query_text("SELECT payload FROM orchestrator_queue WHERE kind IN (2, 6)");
    while (message.next()) ++traces_[message.text(0)];
    Query last = db.query_text(
        "SELECT instance_key, execution, max(event_id) FROM history "
        "GROUP BY instance_key, execution");
    while (last.next()) ends_[{last.integer(0), last.integer(1)}] = last.integer(2);
  }

  bool has_request(const std::string& id) const { return requests_.contains(id); }
  bool has_run(const std::string& id) const { return statuses_.contains(id); }
  /// 0: no such run, or one without an execution.
  std::int64_t status(const std::string& id) const { return value_or_zero(statuses_, id); }
  std::int64_t traces(const std::string& payload) const { return value_or_zero(traces_, payload); }
  std::string turn_at(const Note& note) const {
    const auto found = turns_.find({note.instance, note.execution, note.event});
    return found == turns_.end() ? "" : found->second;
  }
  std::int64_t last_event(const Note& note) const {
    const auto found = ends_.find({note.instance, note.execution});
    return found == ends_.end() ? 0 : found->second;
  }

 private:
  template <class Map>
  static std::int64_t value_or_zero(const Map& map, const std::string& key) {
    const auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
  }

  std::unordered_map<std::string, std::int64_t> statuses_;
  std::unordered_set<std::string> requests_;
  std::unordered_map<std::string, std::int64_t> traces_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::string> turns_;
  std::map<std::tuple<std::int64_t, std::int64_t>, std::int64_t> ends_;
};

/// How often the effect of a write is seen, and whether all of it is.
struct Seen {
  std::int64_t times = 0;
  bool whole = true;
};

Seen look_for_call(const Snapshot& store, const NumberedNote& call) {
  const Note& note = call.note;
  const bool known = store.has_request(request_id(note.what, call.number));
  Seen seen;
  if (note.what == What::kStart) {
    const std::string id = run_id(note.flavour, call.number);
    seen.times = store.has_run(id) ? 1 : 0;
    seen.whole = store.has_run(id) == (store.status(id) != 0);
  } else if (note.what == What::kRaise) {
    seen.times = store.traces(trace(note.what, call.number));
  } else {
    const std::int64_t status = store.status(run_id(kCanceled, note.run));
    seen.times = status == 4 || status == 7 ? 1 : 0;
  }
  // The stored answer is a part of the write.
  seen.whole = seen.whole && known == (seen.times > 0);
  return seen;
}

Seen look_for(const Snapshot& store, const NumberedNote& one) {
  const Note& note = one.note;
  if (note.what == What::kTurn) {
    const bool there = store.turn_at(note) == turn_trace({Epoch{note.epoch}, note.serial});
    return {.times = there ? 1 : 0,
            .whole = !there || store.last_event(note) >= note.event + note.events - 1};
  }
  if (note.what == What::kWork) return {.times = store.traces(trace(note.what, one.number))};
  return look_for_call(store, one);
}

std::string describe(const NumberedNote& one, const Seen& seen) {
  constexpr std::array kKinds{"?", "start", "raise", "cancel", "turn", "work"};
  constexpr std::array kStates{"?", "unanswered", "acknowledged", "refused"};
  return std::string(kStates.at(static_cast<std::size_t>(one.known))) + " " +
         kKinds.at(static_cast<std::size_t>(one.note.what)) + " " + std::to_string(one.number) +
         " is there " + std::to_string(seen.times) + " times" + (seen.whole ? "" : ", in part");
}

/// The run of this work may have been canceled, and then nobody is told of the outcome.
bool may_be_dropped(const NumberedNote& one, const std::unordered_set<std::int64_t>& canceled) {
  return one.note.what == What::kWork && canceled.contains(one.note.instance);
}

std::vector<std::string> rows(Connection& db, std::string_view sql, const std::string& what) {
  std::vector<std::string> all;
  Query row = db.query_text(sql);
  while (row.next()) all.push_back(what + ": " + row.text(0));
  return all;
}

std::unordered_set<std::int64_t> canceled_runs(Connection& db) {
  std::unordered_set<std::int64_t> all;
  Query row = db.query_text("SELECT instance_key FROM instances WHERE id LIKE 'x-%'");
  while (row.next()) all.insert(row.integer(0));
  return all;
}

void judge(const NumberedNote& one, const Seen& seen, bool droppable, Findings& findings) {
  const bool acknowledged = one.known == Known::kAcknowledged;
  if (acknowledged) ++findings.acknowledged;
  if (one.known == Known::kBegun) {
    ++(seen.times > 0 ? findings.unanswered_landed : findings.unanswered_absent);
  }
  const bool lost = acknowledged && seen.times == 0 && !droppable;
  const bool unwanted = one.known == Known::kRefused && seen.times > 0;
  if (lost || unwanted || seen.times > 1 || !seen.whole) {
    findings.violations.push_back(describe(one, seen));
  }
}

}  // namespace

Findings check_store(const std::string& store, const Ledger& ledger) {
  // Before the snapshot: what is known now must be in it.
  const std::vector<NumberedNote> notes = ledger.read();
  auto db = Connection::open(store, Access::kReadOnly);
  db->set_busy_timeout(std::chrono::seconds(30));
  Findings findings;
  findings.violations = crash::violations_at_any_time(store);
  db->exec("BEGIN");
  const auto add = [&](std::string_view sql, const std::string& what) {
    for (std::string& row : rows(*db, sql, what)) findings.violations.push_back(std::move(row));
  };
  add(kMisplacedCalls, "a call is lost or doubled");
  add(kOutOfLine, "an instance with messages is not in line");
  add(kNeverBegun, "a start message is lost");
  const Snapshot snapshot(*db);
  const std::unordered_set<std::int64_t> canceled = canceled_runs(*db);
  db->exec("COMMIT");
  for (const NumberedNote& one : notes) {
    judge(one, look_for(snapshot, one), may_be_dropped(one, canceled), findings);
  }
  return findings;
}

}  // namespace perdure::sqlite::soak
