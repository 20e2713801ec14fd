#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Starts by clients: what exists afterwards, and what happens when the id is taken.
namespace perdure::conformance {

namespace {

constexpr ExecutionStatus kLive[] = {ExecutionStatus::kRunning,
                                     ExecutionStatus::kCompleting,
                                     ExecutionStatus::kFailing,
                                     ExecutionStatus::kCanceling};
constexpr ExecutionStatus kEnds[] = {ExecutionStatus::kCompleted,
                                     ExecutionStatus::kFailed,
                                     ExecutionStatus::kCanceled,
                                     ExecutionStatus::kTerminated};

}  // namespace

class Starts : public Conformance {
 protected:
  Result<OrchestrationStarted> try_start(StartOrchestration request) {
    return store().start_orchestration(std::move(request));
  }

  /// A start with input "again" on an id that is taken.
  StartOrchestration again(const std::string& id) {
    StartOrchestration request = start_request(id);
    request.input = "\"again\"";
    return request;
  }

  StartOrchestration replacing(const std::string& id, const std::string& input = "\"again\"") {
    StartOrchestration request = again(id);
    request.input = input;
    request.on_conflict = OnConflict::kCancelExisting;
    return request;
  }

  /// A run named like the status it is brought to.
  std::string run_in(ExecutionStatus wanted) {
    const std::string id(to_string(wanted));
    start(id);
    const OrchestrationItem item = lock(id);
    TurnCommit decisions = turn(item);
    switch (wanted) {
      case ExecutionStatus::kCompleting:
      case ExecutionStatus::kFailing:
        decisions.status = wanted;
        break;
      case ExecutionStatus::kCompleted:
      case ExecutionStatus::kFailed:
        finish(decisions, item, wanted);
        break;
      default:
        break;
    }
    commit(std::move(decisions));
    if (wanted == ExecutionStatus::kTerminated) terminate(id);
    if (wanted == ExecutionStatus::kCanceling || wanted == ExecutionStatus::kCanceled) cancel(id);
    if (wanted == ExecutionStatus::kCanceling) commit(turn(lock(id)));
    if (wanted == ExecutionStatus::kCanceled) end(id, wanted);
    if (status(id) != wanted) throw std::runtime_error("cannot bring a run to " + id);
    return id;
  }

  ExecutionStatus status_of(const std::string& id, std::int64_t number) {
    auto found = store().get_execution(id, ExecutionNo{number});
    if (!found.ok()) throw std::runtime_error("get_execution: " + found.error().message);
    return found->status;
  }
};

TEST_P(Starts, RunIsReadableAtOnce) {
  StartOrchestration request = start_request("a");
  request.input = "{\"n\":1}";

  const OrchestrationStarted answer = start(std::move(request));

  EXPECT_EQ(answer.outcome, StartOutcome::kStarted);
  EXPECT_EQ(answer.execution, ExecutionNo{1});
  const InstanceInfo run = info("a");
  EXPECT_EQ(run.key, answer.instance);
  EXPECT_EQ(run.id, "a");
  EXPECT_EQ(run.name, kFlow);
  EXPECT_EQ(run.version, kVersion);
  EXPECT_EQ(run.queue, kQueue);
  EXPECT_EQ(run.created_at, now());
  EXPECT_FALSE(run.parent);
  EXPECT_EQ(run.current.status, ExecutionStatus::kRunning);
  EXPECT_EQ(run.current.started_at, now());
  EXPECT_FALSE(run.current.deadline);
  const auto events = history("a");
  ASSERT_EQ(kinds(events), (std::vector<EventKind>{EventKind::kStarted}));
  EXPECT_EQ(events[0].name, kFlow);
  EXPECT_EQ(events[0].payload, "{\"n\":1}");
  EXPECT_EQ(events[0].text, kVersion);
}

TEST_P(Starts, RunWithoutAVersionIsSettledByItsFirstTurn) {
  StartOrchestration request = start_request("a");
  request.version = "";
  start(std::move(request));
  FetchOrchestrationItems fetch = fetch_request(1);
  fetch.served = {{kFlow, ""}};
  auto fetched = store().fetch_orchestration_items(std::move(fetch));
  ASSERT_TRUE(fetched.ok());
  ASSERT_EQ(fetched->items.size(), 1u);
  EXPECT_EQ(fetched->items[0].version, "");

  TurnCommit decisions = turn(fetched->items[0]);
  decisions.version = kVersion;
  commit(std::move(decisions));

  EXPECT_EQ(info("a").version, kVersion);
  poke("a");
  EXPECT_EQ(lock("a").version, kVersion);
}

TEST_P(Starts, LiveIdIsAConflictByDefault) {
  for (const auto live : kLive) {
    const std::string id = run_in(live);
    EXPECT_EQ(refusal(try_start(again(id))), ErrorCode::kConflict) << id;
    EXPECT_EQ(status(id), live);
    EXPECT_EQ(info(id).current.execution, ExecutionNo{1}) << id;
    EXPECT_EQ(history(id)[0].payload, "null") << id;
  }
  EXPECT_FALSE(try_lock()) << "no message was left";
}

TEST_P(Starts, LiveIdCanBeUsed) {
  for (const auto live : kLive) {
    const std::string id = run_in(live);
    StartOrchestration request = again(id);
    request.on_conflict = OnConflict::kUseExisting;

    const OrchestrationStarted answer = start(std::move(request));

    EXPECT_EQ(answer.outcome, StartOutcome::kExisting) << id;
    EXPECT_EQ(answer.instance, info(id).key) << id;
    EXPECT_EQ(answer.execution, ExecutionNo{1}) << id;
    EXPECT_EQ(status(id), live);
    EXPECT_EQ(history(id)[0].payload, "null") << id;
  }
  EXPECT_FALSE(try_lock()) << "no message was left";
}

TEST_P(Starts, LiveIdCanBeCanceledAndReplaced) {
  for (const auto live : kLive) run_in(live);
  for (const auto live : kLive) {
    const std::string id(to_string(live));

    const OrchestrationStarted answer = start(replacing(id));

    EXPECT_EQ(answer.outcome, StartOutcome::kPending) << id;
    EXPECT_EQ(answer.instance, info(id).key) << id;
    EXPECT_EQ(answer.execution, ExecutionNo{2}) << id;
    EXPECT_EQ(info(id).current.execution, ExecutionNo{1}) << id;
    EXPECT_EQ(status(id), ExecutionStatus::kCanceling) << id;
  }
}

TEST_P(Starts, EndedIdIsFreeByDefault) {
  for (const auto ended : kEnds) {
    const std::string id = run_in(ended);

    const OrchestrationStarted answer = start(again(id));

    EXPECT_EQ(answer.outcome, StartOutcome::kStarted) << id;
    EXPECT_EQ(answer.execution, ExecutionNo{2}) << id;
    const OrchestrationItem item = lock(id);
    EXPECT_EQ(item.execution, ExecutionNo{2}) << id;
    EXPECT_EQ(item.last_event, EventId{1}) << id;
    EXPECT_EQ(item.last_turn.serial, 0) << id;
    EXPECT_FALSE(item.cancel_requested_at) << id;
    EXPECT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kStart})) << id;
    EXPECT_EQ(history(id)[0].payload, "\"again\"") << id;
    EXPECT_EQ(status_of(id, 1), ended);
  }
}

TEST_P(Starts, OnlyFailedRefusesTheIdOfACompletedRun) {
  for (const auto ended : kEnds) {
    StartOrchestration request = again(run_in(ended));
    request.on_reuse = OnReuse::kOnlyFailed;
    const std::string id = request.id;

    const auto answer = try_start(std::move(request));

    if (ended == ExecutionStatus::kCompleted) {
      EXPECT_EQ(refusal(answer), ErrorCode::kConflict);
      EXPECT_EQ(status(id), ended);
    } else {
      EXPECT_TRUE(answer.ok()) << id;
      EXPECT_EQ(lock(id).execution, ExecutionNo{2}) << id;
    }
  }
}

TEST_P(Starts, RejectRefusesTheIdOfAnyEndedRun) {
  for (const auto ended : kEnds) {
    const std::string id = run_in(ended);
    for (const auto on_conflict :
         {OnConflict::kFail, OnConflict::kUseExisting, OnConflict::kCancelExisting}) {
      StartOrchestration request = again(id);
      request.on_reuse = OnReuse::kReject;
      request.on_conflict = on_conflict;
      EXPECT_EQ(refusal(try_start(std::move(request))), ErrorCode::kConflict) << id;
    }
    EXPECT_EQ(status(id), ended);
    EXPECT_EQ(info(id).current.execution, ExecutionNo{1}) << id;
  }
  EXPECT_FALSE(try_lock());
}

TEST_P(Starts, StoredStartTakesPlaceInTheTurnThatEndsTheOldRun) {
  start_and_run("a");
  start(replacing("a"));

  const TurnCommitted answer = end("a", ExecutionStatus::kCanceled);

  EXPECT_TRUE(answer.more_now);
  EXPECT_EQ(status_of("a", 1), ExecutionStatus::kCanceled);
  EXPECT_EQ(info("a").current.execution, ExecutionNo{2});
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.status, ExecutionStatus::kRunning);
  EXPECT_FALSE(item.cancel_requested_at) << "the cancel was for the old run";
  EXPECT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kStart}));
  EXPECT_EQ(history("a")[0].payload, "\"again\"");
  EXPECT_FALSE(commit(turn(item)).next_at) << "the old cleanup deadline went with its run";
}

TEST_P(Starts, StoredStartTakesPlaceWhenTheOldRunIsTerminated) {
  start_and_run("a");
  start(replacing("a"));

  terminate("a");

  EXPECT_EQ(status_of("a", 1), ExecutionStatus::kTerminated);
  EXPECT_EQ(info("a").current.execution, ExecutionNo{2});
  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kStart}));
}

TEST_P(Starts, RunWithoutATurnIsReplacedAtOnce) {
  start("a");

  const OrchestrationStarted answer = start(replacing("a"));

  EXPECT_EQ(answer.execution, ExecutionNo{2});
  EXPECT_EQ(status_of("a", 1), ExecutionStatus::kCanceled);
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.execution, ExecutionNo{2});
  EXPECT_EQ(kinds(item.messages), (std::vector<MessageKind>{MessageKind::kStart}));
  EXPECT_EQ(history("a")[0].payload, "\"again\"");
}

TEST_P(Starts, SecondReplacementReplacesTheFirst) {
  start_and_run("a");
  start(replacing("a", "\"first\""));

  const OrchestrationStarted second = start(replacing("a", "\"second\""));

  EXPECT_EQ(second.outcome, StartOutcome::kPending);
  EXPECT_EQ(second.execution, ExecutionNo{2});
  end("a", ExecutionStatus::kCanceled);
  EXPECT_EQ(history("a")[0].payload, "\"second\"");
  end("a", ExecutionStatus::kCompleted);
  EXPECT_EQ(info("a").current.execution, ExecutionNo{2}) << "the first one is forgotten";
  EXPECT_EQ(status("a"), ExecutionStatus::kCompleted);
}

TEST_P(Starts, ReplacementTouchesTheClaimsOfTheOldRun) {
  start_with_work("a", 2);
  const WorkItem claimed = claim();
  StartOrchestration request = replacing("a");
  request.cleanup_timeout = 20s;

  const OrchestrationStarted answer = start(std::move(request));

  const std::vector<TouchedClaim> expected{{claimed.id, claimed.lock, false}};
  EXPECT_EQ(answer.touched, expected);
  EXPECT_FALSE(try_claim());
  EXPECT_EQ(commit(turn(lock("a"))).next_at, now() + 20s) << "cleanup time of the old run";
}

TEST_P(Starts, DelayHoldsTheFirstTurnBack) {
  StartOrchestration request = start_request("a");
  request.delay = 10s;
  start(std::move(request));

  EXPECT_EQ(status("a"), ExecutionStatus::kRunning);
  advance(9s);
  EXPECT_FALSE(try_lock());
  advance(1s);
  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kStart}));
}

TEST_P(Starts, DelayedRunCanBeCanceledBeforeItBegins) {
  StartOrchestration request = start_request("a");
  request.delay = 10s;
  start(std::move(request));

  EXPECT_EQ(cancel("a").status, ExecutionStatus::kCanceled);
  advance(1h);
  EXPECT_FALSE(try_lock());
}

TEST_P(Starts, RunTimeoutGivesADeadlineAndItsMessage) {
  StartOrchestration request = start_request("a");
  request.run_timeout = 1h;
  const TimePoint deadline = now() + 1h;
  start(std::move(request));
  EXPECT_EQ(info("a").current.deadline, deadline);
  const OrchestrationItem item = lock("a");
  EXPECT_EQ(item.deadline, deadline);
  EXPECT_EQ(commit(turn(item)).next_at, deadline);

  advance(1h);

  const OrchestrationItem late = lock("a");
  ASSERT_EQ(kinds(late.messages), (std::vector<MessageKind>{MessageKind::kRunDeadline}));
  EXPECT_EQ(late.messages[0].execution, ExecutionNo{1});
  EXPECT_EQ(late.messages[0].visible_at, deadline);
}

TEST_P(Starts, RepeatedRequestGetsTheFirstAnswer) {
  StartOrchestration request = start_request("a");
  request.request_id = "r1";
  const OrchestrationStarted first = start(request);
  EXPECT_EQ(kinds(lock("a").messages), (std::vector<MessageKind>{MessageKind::kStart}));

  const OrchestrationStarted live = start(request);
  terminate("a");
  const OrchestrationStarted ended = start(request);

  for (const OrchestrationStarted& answer : {live, ended}) {
    EXPECT_EQ(answer.outcome, StartOutcome::kStarted);
    EXPECT_EQ(answer.instance, first.instance);
    EXPECT_EQ(answer.execution, first.execution);
  }
  EXPECT_EQ(info("a").current.execution, ExecutionNo{1});
  EXPECT_EQ(status("a"), ExecutionStatus::kTerminated) << "a repetition starts nothing";
}

TEST_P(Starts, RepeatedRequestNamesTheRunOfTheFirst) {
  StartOrchestration request = start_request("a");
  request.request_id = "r1";
  EXPECT_EQ(start(request).id, "a");
  request.id = "made anew";

  EXPECT_EQ(start(request).id, "a");
  EXPECT_EQ(refusal(store().get_instance("made anew")), ErrorCode::kNotFound);

  ASSERT_TRUE(store().delete_instance({.id = "a", .force = true}).ok());
  EXPECT_EQ(start(request).id, "") << "it is gone";
}

TEST_P(Starts, RequestIdOfAnotherCallIsRefused) {
  start_and_run("other");
  ASSERT_TRUE(store().raise_event({.id = "other", .name = "e", .request_id = "r1"}).ok());
  StartOrchestration request = start_request("a");
  request.request_id = "r1";

  EXPECT_EQ(refusal(try_start(std::move(request))), ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal(store().get_instance("a")), ErrorCode::kNotFound);
}

PERDURE_CONFORMANCE_SUITE(Starts);

}  // namespace perdure::conformance
