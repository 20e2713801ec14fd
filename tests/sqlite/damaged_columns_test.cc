#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "provider/sqlite/sqlite_provider.h"
#include "tests/conformance/corrupt_steps.h"

/// Every column of an instance's rows gets every kind of value that SQLite lets in: instances,
/// executions, history, orchestrator_queue, instance_ready, worker_queue and requests, without what
/// is the key of these rows. Whatever becomes of that instance: each call is answered, its
/// neighbour lives its whole life, and nothing asks to be called again at once. Not each of these
/// values is damage, and not all damage must be noticed: a text may be any text, so that only a
/// blob is wrong there, and a column that has no meaning for the row is not read.
namespace perdure::conformance {

namespace {

constexpr std::array kValues{"'junk'", "x'ff00'", "-1", "999999999", "1.5", "NULL"};

struct DamagedTable {
  const char* name;
  const char* key;        ///< of the instance
  const char* also = "";  ///< what is set before the column, so that it has a meaning
};

/// Allowed answers about something that is damaged.
template <class T>
void expect_answer(const Result<T>& result, const char* call) {
  if (result.ok() || result.code() == ErrorCode::kNotFound) return;
  EXPECT_EQ(result.code(), ErrorCode::kCorrupt) << call << ": " << result.error();
  EXPECT_NE(result.error().message.find("table "), std::string::npos)
      << call << ": " << result.error();
}

class EveryColumn : public CorruptSteps {
 protected:
  Status run_sql(const std::string& sql) {
    return dynamic_cast<sqlite::SqliteProvider&>(store()).run_sql(sql);
  }

  void turns(InstanceKey bad, InstanceKey good);
  void work(InstanceKey good);
  void reads(const std::string& bad_id, InstanceKey bad, InstanceKey good);
  void ends(const std::string& bad_id, const std::string& good_id);
  void walk(const DamagedTable& table, const std::vector<std::string>& columns);
};

void EveryColumn::turns(InstanceKey bad, InstanceKey good) {
  const auto fetched = store().fetch_orchestration_items(fetch_request(100));
  ASSERT_TRUE(fetched.ok()) << fetched;
  bool good_came = false;
  for (const OrchestrationItem& item : fetched->items) {
    if (item.problem) {
      EXPECT_NE(item.instance, good) << *item.problem;
      EXPECT_NE(item.problem->message.find("table "), std::string::npos) << *item.problem;
    } else {
      const auto committed = try_commit(turn(item));
      good_came |= item.instance == good && committed.ok();
      if (committed.ok()) continue;
      EXPECT_NE(item.instance, good) << committed;
    }
    AbandonOrchestrationItems request;
    request.entries = {
        {item.instance, item.lock, 1h, Charge::kDeferral, BlockedReason::kCorrupt, "bad"}};
    const auto abandoned = store().abandon_orchestration_items(request);
    ASSERT_TRUE(abandoned.ok()) << abandoned;
    EXPECT_TRUE(abandoned->at(0).ok()) << abandoned->at(0);
  }
  EXPECT_TRUE(good_came);
  const auto again = store().fetch_orchestration_items(fetch_request(100));
  ASSERT_TRUE(again.ok()) << again;
  EXPECT_EQ(find(again->items, bad), nullptr) << "a hot loop";
  if (again->next_at) {
    EXPECT_GT(*again->next_at, now()) << "a hot loop";
  }
}

void EveryColumn::work(InstanceKey good) {
  const auto swept = store().sweep_work_items();
  ASSERT_TRUE(swept.ok()) << swept;
  if (swept->next_at) {
    EXPECT_GT(*swept->next_at, now()) << "a hot loop";
  }
  bool good_came = false;
  // A row with very many losses comes alone, and the others after it.
  for (int i = 0; i < 2 && !good_came; ++i) {
    const auto fetched = store().fetch_work_items(claim_request(100));
    ASSERT_TRUE(fetched.ok()) << fetched;
    for (const Error& problem : fetched->problems) expect_named(problem, "key ");
    for (const WorkItem& item : fetched->items) {
      const Status done = try_complete(item);
      good_came |= item.owner.instance == good && done.ok();
    }
  }
  EXPECT_TRUE(good_came);
  const auto again = store().fetch_work_items(claim_request(100));
  ASSERT_TRUE(again.ok()) << again;
  EXPECT_TRUE(again->items.empty() && again->problems.empty()) << "a hot loop";
  if (again->next_at) {
    EXPECT_GT(*again->next_at, now()) << "a hot loop";
  }
}

void EveryColumn::reads(const std::string& bad_id, InstanceKey bad, InstanceKey good) {
  EXPECT_EQ(listed(good).blocked, BlockedReason::kNone);
  EXPECT_FALSE(listed(good).problem);
  expect_answer(store().get_instance(bad_id), "get");
  expect_answer(store().get_execution(bad_id, ExecutionNo{1}), "get_execution");
  expect_answer(store().get_stats(bad_id), "stats");
  expect_answer(store().get_tree({.id = bad_id}), "tree");
  expect_answer(store().list_executions({.id = bad_id}), "executions");
  EXPECT_TRUE(store().queue_depths().ok());
  const auto pages = store().read_history(
      {{bad, ExecutionNo{1}, EventId{}, 100}, {good, ExecutionNo{1}, EventId{}, 100}});
  ASSERT_TRUE(pages.ok()) << pages;
  expect_answer(pages->at(0), "history");
  EXPECT_TRUE(pages->at(1).ok()) << pages->at(1);
}

void EveryColumn::ends(const std::string& bad_id, const std::string& good_id) {
  RaiseEvent raise;
  raise.id = bad_id;
  raise.name = "e";
  expect_answer(store().raise_event(raise), "raise");
  CancelOrchestration cancel_bad;
  cancel_bad.id = bad_id;
  expect_answer(store().cancel_orchestration(cancel_bad), "cancel");
  EXPECT_TRUE(cancel(good_id).changed);
  TerminateOrchestration terminate_bad;
  terminate_bad.id = bad_id;
  expect_answer(store().terminate_orchestration(terminate_bad), "terminate");
  EXPECT_TRUE(terminate(good_id).changed);
  const auto deleted = store().delete_instance({.id = bad_id, .force = true});
  EXPECT_TRUE(deleted.ok() || deleted.code() == ErrorCode::kNotFound) << deleted;
  EXPECT_TRUE(store().delete_instance({.id = good_id}).ok());
}

void EveryColumn::walk(const DamagedTable& table, const std::vector<std::string>& columns) {
  int damaged = 0;
  for (const std::string& column : columns) {
    for (const char* value : kValues) {
      const std::string bad_id = table.name + ("." + column) + " = " + value;
      SCOPED_TRACE(bad_id);
      const std::string good_id = "good of " + bad_id;
      // Both have a history, a work row and a message.
      for (const std::string& id : {bad_id, good_id}) start_with_work(id, 1);
      for (const std::string& id : {bad_id, good_id}) poke(id);
      const InstanceKey bad = info(bad_id).key;
      const InstanceKey good = info(good_id).key;
      const Status done =
          run_sql("UPDATE " + std::string(table.name) + " SET " + table.also + column + " = " +
                  value + " WHERE " + table.key + " = " + std::to_string(bad.value));
      if (done.ok()) ++damaged;
      turns(bad, good);
      work(good);
      reads(bad_id, bad, good);
      ends(bad_id, good_id);
      // One that got another id lives on: its lock keeps it away from the next ones.
      lock_up_to(100);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(damaged, 0);
}

TEST_P(EveryColumn, OfAnInstance) {
  walk({"instances", "instance_key"},
       {"id",
        "name",
        "version",
        "queue",
        "current_execution",
        "parent_key",
        "close_policy",
        "created_at",
        "priority",
        "shielded"});
}

TEST_P(EveryColumn, OfALinkToAParent) {
  // Of a column that is set twice the second value counts. This parent is gone: nobody is told.
  walk({"instances",
        "instance_key",
        "parent_key = 999999999, parent_execution = 1, parent_event = 1, close_policy = 1, "},
       {"parent_execution", "parent_event", "close_policy", "shielded"});
}

TEST_P(EveryColumn, OfAnExecution) {
  walk({"executions", "instance_key"},
       {"execution",         "status",          "blocked_reason",      "blocked_detail",
        "blocked_since",     "output",          "failure_type",        "failure_message",
        "failure_retryable", "failure_details", "cancel_requested_at", "cancel_reason",
        "canceled_at",       "deadline",        "custom_status",       "custom_status_version",
        "last_event",        "last_turn_epoch", "last_turn",           "last_change",
        "started_at",        "completed_at",    "engine_version"});
}

TEST_P(EveryColumn, OfAHistory) {
  walk({"history", "event_id = 1 AND instance_key"},
       {"execution",
        "event_id",
        "kind",
        "source_event",
        "name",
        "payload",
        "text",
        "number",
        "failure_type",
        "failure_message",
        "failure_retryable",
        "failure_details",
        "at"});
}

TEST_P(EveryColumn, OfAMessage) {
  walk({"orchestrator_queue", "instance_key"},
       {"instance_key",
        "kind",
        "execution",
        "source_event",
        "name",
        "payload",
        "text",
        "failure_type",
        "failure_message",
        "failure_retryable",
        "failure_details",
        "shielded",
        "visible_at",
        "mark_epoch",
        "mark"});
}

TEST_P(EveryColumn, OfALine) {
  walk({"instance_ready", "instance_key"},
       {"queue",
        "name",
        "version",
        "ready_at",
        "not_before",
        "cleanup_at",
        "lock_epoch",
        "lock_token",
        "locked_until",
        "locked_at",
        "marked_until",
        "losses",
        "deferrals",
        "priority"});
}

TEST_P(EveryColumn, OfWork) {
  walk({"worker_queue", "owner_key"},
       {"owner_kind",
        "owner_key",
        "owner_execution",
        "owner_event",
        "queue",
        "name",
        "input",
        "priority",
        "state",
        "visible_at",
        "lock_epoch",
        "lock_token",
        "locked_until",
        "claimed_at",
        "first_claimed_at",
        "cancel_requested_at",
        "on_cancel",
        "shielded",
        "retry_max_attempts",
        "retry_first_delay",
        "retry_backoff",
        "retry_max_delay",
        "retry_jitter",
        "retry_never",
        "start_to_close",
        "schedule_to_start",
        "schedule_to_close",
        "heartbeat_timeout",
        "expires_at",
        "failures",
        "losses",
        "deferrals",
        "failure_type",
        "failure_message",
        "failure_retryable",
        "failure_details",
        "heartbeat_details",
        "created_at"});
}

TEST_P(EveryColumn, OfAWorkRowsOwnerGoesWithItsInstance) {
  for (const char* value : kValues) {
    const std::string id = value;
    SCOPED_TRACE(id);
    start_with_work(id, 1);
    const Status done = run_sql("UPDATE worker_queue SET owner_kind = " + id +
                                " WHERE owner_key = " + std::to_string(info(id).key.value));
    const auto fetched = store().fetch_work_items(claim_request(1));
    ASSERT_TRUE(fetched.ok()) << fetched;
    EXPECT_EQ(fetched->problems.size(), done.ok() ? 1u : 0u);
    ASSERT_TRUE(store().delete_instance({.id = id, .force = true}).ok());
    const auto depths = store().queue_depths();
    ASSERT_TRUE(depths.ok()) << depths;
    EXPECT_TRUE(depths->queues.empty());
  }
}

/// The columns of `requests` that those of a run use.
const std::vector<std::string> kRequestColumns{"operation",
                                               "instance_key",
                                               "execution",
                                               "answer",
                                               "name",
                                               "payload",
                                               "reply",
                                               "failure_type",
                                               "failure_message",
                                               "failure_retryable",
                                               "failure_details",
                                               "replied_at",
                                               "at",
                                               "open",
                                               "expires_at",
                                               "taken_until",
                                               "taken_epoch",
                                               "taken_serial",
                                               "message_id"};

/// Requests of one run are damaged; those of another live their whole life.
class EveryRequestColumn : public EveryColumn {
 protected:
  void make(const std::string& id, RequestKind kind);
  void answer(const OrchestrationItem& item);
  void answer_all();
  void expect_answered(const std::string& id, RequestKind kind);
  /// When its row is damaged.
  enum class Stage {
    kAsked,    ///< its message waits for a turn
    kOfEnded,  ///< its run had ended
    kHeld,     ///< a turn has taken its message, says nothing to it and continues as new
  };
  void walk(RequestKind kind, Stage stage);
};

void EveryRequestColumn::make(const std::string& id, RequestKind kind) {
  MakeRequest request;
  request.kind = kind;
  request.id = id;
  request.request = "r";
  request.name = "n";
  request.payload = "1";
  ASSERT_TRUE(store().make_request(request).ok());
}

void EveryRequestColumn::answer(const OrchestrationItem& item) {
  TurnCommit commit = turn(item);
  for (const Message& message : item.messages) {
    const bool is_update = message.kind == MessageKind::kUpdate;
    if (!is_update && message.kind != MessageKind::kQuery) continue;
    EXPECT_TRUE(check_id("name", message.name).ok()) << "damage is not handed on";
    commit.replies.push_back({is_update ? RequestKind::kUpdate : RequestKind::kQuery,
                              message.text,
                              RequestStage::kAnswered,
                              "1",
                              {}});
  }
  EXPECT_TRUE(try_commit(commit).ok());
}

/// What is ready now; then nothing is any more.
void EveryRequestColumn::answer_all() {
  const auto fetched = store().fetch_orchestration_items(fetch_request(100));
  ASSERT_TRUE(fetched.ok()) << fetched;
  for (const OrchestrationItem& item : fetched->items) {
    EXPECT_FALSE(item.problem) << *item.problem;
    answer(item);
  }
  const auto again = store().fetch_orchestration_items(fetch_request(100));
  ASSERT_TRUE(again.ok()) << again;
  EXPECT_TRUE(again->items.empty()) << "a hot loop";
}

void EveryRequestColumn::expect_answered(const std::string& id, RequestKind kind) {
  const auto found = store().get_request({info(id).key, kind, "r"});
  ASSERT_TRUE(found.ok()) << found;
  EXPECT_EQ(found->stage, RequestStage::kAnswered);
}

void EveryRequestColumn::walk(RequestKind kind, Stage stage) {
  const bool ended = stage == Stage::kOfEnded;
  int damaged = 0;
  for (const std::string& column : kRequestColumns) {
    for (const char* value : kValues) {
      const std::string bad_id = column + " = " + value;
      SCOPED_TRACE(bad_id);
      const std::string good_id = "good of " + bad_id;
      for (const std::string& id : {bad_id, good_id}) {
        start_and_run(id);
        if (ended) terminate(id);
      }
      for (const std::string& id : {bad_id, good_id}) make(id, kind);
      const InstanceKey bad = info(bad_id).key;
      std::vector<OrchestrationItem> held;
      if (stage == Stage::kHeld) held = lock_up_to(5);
      const Status done = run_sql("UPDATE requests SET " + column + " = " + value +
                                  " WHERE instance_key = " + std::to_string(bad.value));
      if (done.ok()) ++damaged;
      expect_answer(store().get_request({bad, kind, "r"}), "before");
      for (const OrchestrationItem& item : held) {
        TurnCommit next = turn(item);
        finish(next, item, ExecutionStatus::kContinuedAsNew);
        commit(next);
      }
      answer_all();
      expect_answered(good_id, kind);
      expect_answer(store().get_request({bad, kind, "r"}), "after");
      for (const std::string& id : {bad_id, good_id}) {
        if (!ended) {
          EXPECT_TRUE(terminate(id).changed);
        }
        EXPECT_TRUE(store().delete_instance({.id = id}).ok());
      }
      advance(25h);
      EXPECT_TRUE(store().sweep_work_items().ok());
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(damaged, 0);
}

TEST_P(EveryRequestColumn, OfAnUpdate) {
  walk(RequestKind::kUpdate, Stage::kAsked);
}

TEST_P(EveryRequestColumn, OfAnUpdateThatIsHeldOver) {
  walk(RequestKind::kUpdate, Stage::kHeld);
}

TEST_P(EveryRequestColumn, OfAQuery) {
  walk(RequestKind::kQuery, Stage::kAsked);
}

TEST_P(EveryRequestColumn, OfAQueryToAnEndedRun) {
  walk(RequestKind::kQuery, Stage::kOfEnded);
}

std::vector<StoreParam> memory_store() {
  std::vector<StoreParam> all = stores();
  std::erase_if(all, [](const StoreParam& store) { return store.name != "memory"; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Damage, EveryColumn, ::testing::ValuesIn(memory_store()), store_name);
INSTANTIATE_TEST_SUITE_P(Damage,
                         EveryRequestColumn,
                         ::testing::ValuesIn(memory_store()),
                         store_name);

}  // namespace

}  // namespace perdure::conformance
