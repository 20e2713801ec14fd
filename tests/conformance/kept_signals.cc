#include "model/handled.h"
#include "tests/conformance/answers.h"
#include "tests/conformance/corrupt_steps.h"

/// Runs that keep a signal, because the code that took their turn has no handler for it, are woken
/// when code with one is there: nothing else may ever come to them.
namespace perdure::conformance {

class KeptSignals : public CorruptSteps {
 protected:
  using Kinds = std::vector<MessageKind>;

  Epoch declare(std::vector<std::string> signals, const std::string& version = kVersion) {
    RegisterProcess request;
    request.host = "declares";
    request.declared.push_back({kFlow, version, std::move(signals)});
    return store().register_process(std::move(request)).value();
  }

  void send(const std::string& id, const std::string& name) {
    RaiseEvent request;
    request.id = id;
    request.name = name;
    request.as_signal = true;
    ASSERT_EQ(*store().raise_event(std::move(request)), EventDelivery::kDelivered);
  }

  /// Adds that the turn keeps this signal; answers its event.
  EventId add_kept(TurnCommit& commit, const OrchestrationItem& item, const std::string& name) {
    HistoryEvent event = next_event(item, commit, EventKind::kSignalReceived);
    event.name = name;
    event.number = commit.events.empty() ? kKeptFlag : kKeptFlag | kJoinedFlag;
    commit.events.push_back(event);
    return event.id;
  }
  void add_taken(TurnCommit& commit,
                 const OrchestrationItem& item,
                 const std::string& name,
                 EventId kept) {
    HistoryEvent event = next_event(item, commit, EventKind::kSignalReceived);
    event.name = name;
    event.source = kept;
    commit.events.push_back(event);
  }

  /// Locks the run, which has a signal, and keeps it.
  EventId keep(const std::string& id, const std::string& name) {
    send(id, name);
    const OrchestrationItem item = lock(id);
    TurnCommit decided = turn(item);
    const EventId event = add_kept(decided, item, name);
    commit(std::move(decided));
    return event;
  }
  void start_keeping(const std::string& id, const std::string& name) {
    start_and_run(id);
    keep(id, name);
  }

  void ask(const std::string& id, Duration expires_after) {
    MakeRequest query;
    query.kind = RequestKind::kQuery;
    query.id = id;
    query.request = "q";
    query.name = "total";
    query.expires_after = expires_after;
    ASSERT_TRUE(store().make_request(query).ok());
  }

  /// The run gets a turn that tells it nothing, and no second one.
  void expect_woken(const std::string& id) {
    const OrchestrationItem item = lock(id);
    EXPECT_EQ(kinds(item.messages), Kinds{MessageKind::kWake});
    commit(turn(item));
    EXPECT_FALSE(try_lock());
  }
};

TEST_P(KeptSignals, WakeTheirRunsWhenCodeThatTakesThemComes) {
  start_keeping("a", "pay");
  start_keeping("other", "close");
  EXPECT_FALSE(try_lock());
  declare({"open", "pay"});
  expect_woken("a");
}

TEST_P(KeptSignals, WakeTheirRunOnceHoweverManyThereAre) {
  start_keeping("a", "pay");
  keep("a", "pay");
  keep("a", "close");
  declare({"close", "pay"});
  declare({"close", "pay"});
  expect_woken("a");
}

TEST_P(KeptSignals, WakeTheirRunAlsoWhenAQueryWaitsThatWillExpire) {
  start_keeping("a", "pay");
  ask("a", 10s);
  declare({"pay"});
  advance(10s);
  expect_woken("a");
}

TEST_P(KeptSignals, WakeTheirRunAlsoWhenAQueryWaitsThatHasExpired) {
  start_keeping("a", "pay");
  ask("a", 10s);
  advance(10s);
  declare({"pay"});
  expect_woken("a");
}

TEST_P(KeptSignals, ThatAreKeptTogetherWakeTheirRunEach) {
  start_and_run("a");
  poke("a");
  OrchestrationItem item = lock("a");
  TurnCommit keeps = turn(item);
  const EventId first = add_kept(keeps, item, "open");
  add_kept(keeps, item, "pay");
  commit(std::move(keeps));
  poke("a");
  item = lock("a");
  TurnCommit takes = turn(item);
  add_taken(takes, item, "open", first);
  commit(std::move(takes));
  declare({"open"});
  EXPECT_FALSE(try_lock());
  declare({"pay"});
  expect_woken("a");
}

TEST_P(KeptSignals, WakeNoRunsOfOtherCode) {
  start_keeping("a", "pay");
  declare({"pay"}, "2");
  declare({"open"});
  EXPECT_FALSE(try_lock());
}

TEST_P(KeptSignals, ThatWereTakenWakeNobody) {
  start_and_run("a");
  const EventId first = keep("a", "pay");
  const EventId second = keep("a", "pay");
  poke("a");
  OrchestrationItem item = lock("a");
  TurnCommit takes = turn(item);
  add_taken(takes, item, "pay", first);
  commit(std::move(takes));
  declare({"pay"});
  item = lock("a");
  EXPECT_EQ(kinds(item.messages), Kinds{MessageKind::kWake}) << "one is left";
  TurnCommit takes_both = turn(item);
  add_taken(takes_both, item, "pay", second);
  commit(std::move(takes_both));
  declare({"pay"});
  EXPECT_FALSE(try_lock());
}

TEST_P(KeptSignals, WakeTheNextExecutionThatWasLeftThem) {
  start_keeping("a", "pay");
  poke("a");
  const OrchestrationItem item = lock("a");
  TurnCommit continues = turn(item);
  finish(continues, item, ExecutionStatus::kContinuedAsNew);
  HistoryEvent carried;
  carried.kind = EventKind::kSignalReceived;
  carried.name = "pay";
  continues.next->carried.push_back(carried);
  commit(std::move(continues));
  commit(turn(lock("a")));
  declare({"pay"});
  expect_woken("a");
}

TEST_P(KeptSignals, AreNotThoseOfTheNextExecutionWhenItWasLeftNone) {
  start_keeping("a", "pay");
  poke("a");
  end("a", ExecutionStatus::kContinuedAsNew);
  commit(turn(lock("a")));
  declare({"pay"});
  EXPECT_FALSE(try_lock());
}

TEST_P(KeptSignals, GoWithTheEndOfTheirRunAndWithItsDeletion) {
  start_keeping("ended", "pay");
  poke("ended");
  end("ended", ExecutionStatus::kCompleted);
  start_keeping("terminated", "pay");
  terminate("terminated");
  start_keeping("deleted", "pay");
  ASSERT_TRUE(store().delete_instance({.id = "deleted", .force = true}).ok());
  for (const char* id : {"ended", "terminated", "deleted"}) start_and_run(id);
  declare({"pay"});
  EXPECT_FALSE(try_lock()) << "these are new runs under the ids of others";
}

TEST_P(KeptSignals, WakeARunWhoseTurnIsUnderWay) {
  start_keeping("a", "pay");
  poke("a");
  const OrchestrationItem item = lock("a");
  declare({"pay"});
  commit(turn(item));
  expect_woken("a");
}

TEST_P(KeptSignals, NeedNoWakeWhenATurnIsDue) {
  start_keeping("a", "pay");
  poke("a");
  declare({"pay"});
  EXPECT_EQ(kinds(lock("a").messages), Kinds{MessageKind::kEventRaised});
}

TEST_P(KeptSignals, OfAProcessThatPassedOverTheOneWithTheHandlerWakeAtOnce) {
  declare({"pay"});
  start_keeping("a", "pay");
  expect_woken("a");
}

TEST_P(KeptSignals, WakeWhenTheProcessThatPassedOverTheOthersEnds) {
  const Epoch newer = declare({"pay"});
  const Epoch older = declare({});
  start_keeping("a", "pay");
  expect_woken("a");  // by the older one again
  ASSERT_TRUE(store().release_process({older}).ok());
  expect_woken("a");
  ASSERT_TRUE(store().release_process({newer}).ok());
  EXPECT_FALSE(try_lock()) << "nobody is left who has a handler";
}

TEST_P(KeptSignals, WhoseRowIsDamagedHinderNobody) {
  for_each_damage([this](Damage how, const std::string& prefix) {
    start_keeping(prefix + "bad", prefix);
    start_keeping(prefix + "good", prefix);
    RowRef row;
    row.table = Table::kKeptSignal;
    row.instance = info(prefix + "bad").key;
    if (!damage(row, how)) return;
    const Epoch declares = declare({prefix});
    const InstanceKey good = info(prefix + "good").key;
    bool good_came = false;
    for (const OrchestrationItem& item : lock_up_to(5)) {
      EXPECT_FALSE(item.problem);
      good_came |= item.instance == good;
      commit(turn(item));
    }
    EXPECT_TRUE(good_came);
    EXPECT_TRUE(lock_up_to(5).empty()) << "a hot loop";
    EXPECT_TRUE(store().release_process({declares}).ok());
    EXPECT_TRUE(terminate(prefix + "bad").changed);
    EXPECT_TRUE(store().delete_instance({.id = prefix + "bad"}).ok());
  });
}

PERDURE_CONFORMANCE_SUITE(KeptSignals);

}  // namespace perdure::conformance
