#include "tests/live/causes_fixture.h"

/// Every way in which a running handler hears that it shall stop, each of them alone: the others
/// are switched off.
namespace perdure::test::delivery_test {

namespace {

using causes::command;
using causes::kid;
using causes::toil;

constexpr Orchestration<void()> crew{"crew"};
constexpr Event<void> finish{"finish"};

/// Two handlers: the claim of one is deleted by a cancel, that of the other is marked.
Task<void> run_crew(OrchestrationContext& ctx) {
  auto tried = ctx.call(toil, std::string("tried"));
  auto waited = ctx.call(toil, std::string("waited"), {.on_cancel = OnCancel::kWait});
  co_await when_all(tried, waited);
}

class Delivery : public causes::Causes {
 protected:
  Delivery() { registry_.add(crew, run_crew); }

  /// No poll and no renewal comes to the help of what is tested.
  static RuntimeOptions quiet() {
    RuntimeOptions options = Causes::options();
    options.cancellation_poll_interval = 10min;
    return options;
  }
  /// The keeper of claims is not woken, and learns nothing when it looks.
  void run_without_keeper() {
    store_.deaf = true;
    store_.claims_unknown = true;
    run(quiet());
  }
  void start_crew(const StartOptions& options = {}) {
    client_.start(crew, "c", options);
    wait_for_begun("tried");
    wait_for_begun("waited");
  }
  void expect_crew_told(const std::string& reason) {
    EXPECT_EQ(told("tried"), reason);
    EXPECT_EQ(told("waited"), reason);
  }
  void expect_crew_canceled(const std::string& reason) {
    expect_crew_told(reason);
    const RunStatus end = client_.wait("c", kHanging);
    EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
    EXPECT_EQ(end.cancel_reason, reason);
    expect_nothing_left("c");
  }
};

// What the store tells the keeper of claims.

TEST_F(Delivery, TheFileAloneTellsAnotherProvider) {
  run(quiet());
  start_crew();
  sqlite::Options same;
  same.path = dir_.file("db");
  same.clock = &clock_;
  const std::unique_ptr<Provider> other = sqlite::open(same).value();
  CancelOrchestration request;
  request.id = "c";
  request.reason = "from afar";
  EXPECT_TRUE(other->cancel_orchestration(std::move(request)).value().changed);
  expect_crew_canceled("from afar");
}

TEST_F(Delivery, TheSignalInsideTheProcessAloneIsEnough) {
  run(quiet());
  start_crew();
  EXPECT_TRUE(cancel("c", "next door").changed);
  expect_crew_canceled("next door");
}

TEST_F(Delivery, ThePollAloneIsEnough) {
  store_.deaf = true;
  run();
  start_crew();
  EXPECT_TRUE(cancel("c", "unheard").changed);
  expect_crew_canceled("unheard");
}

TEST_F(Delivery, ThePollIsNotHeldUpByRenewalsThatFail) {
  store_.deaf = true;
  store_.renewals_unknown = true;
  RuntimeOptions renewing = options();
  renewing.worker_lock_timeout = 6s;
  renewing.worker_lock_renewal_buffer = 5s;  // tried from 3 s on, given up after 6 s
  run(renewing);
  start_crew();
  wait_for([&] { return store_.unanswered >= 2; }, "a renewal that is tried again");
  EXPECT_TRUE(cancel("c", "while nobody can write").changed);
  expect_crew_told("while nobody can write");
  store_.renewals_unknown = false;
}

TEST_F(Delivery, TheRenewalAloneIsEnough) {
  store_.deaf = true;
  store_.checks_unknown = true;
  RuntimeOptions renewing = options();
  renewing.worker_lock_timeout = 4s;
  renewing.worker_lock_renewal_buffer = 3s;  // renewed every 2 s
  run(renewing);
  start_crew();
  EXPECT_TRUE(cancel("c", "unheard and unseen").changed);
  expect_crew_canceled("unheard and unseen");
  EXPECT_GT(store_.renewals, 0);
}

TEST_F(Delivery, IsFoundWhenTheStoreAnswersAgain) {
  run();
  start_crew();
  store_.claims_unknown = true;
  // A look that was under way has ended.
  wait_for([&] { return store_.unanswered >= 2; }, "a watch that is not answered");
  EXPECT_TRUE(cancel("c", "meanwhile").changed);
  const int before = store_.unanswered;
  wait_for([&] { return store_.unanswered >= before + 10; }, "a keeper that asks again");
  EXPECT_EQ(book_->told("tried"), "");
  EXPECT_EQ(book_->told("waited"), "");
  store_.claims_unknown = false;
  expect_crew_canceled("meanwhile");
}

// What a commit names, and the process that made it fires.

constexpr Orchestration<std::string()> racer{"racer"};

Task<std::string> run_racer(OrchestrationContext& ctx) {
  {
    auto slow = ctx.call(toil, std::string("slow"));
    auto go = ctx.wait_for(command);
    if (co_await when_any(slow, go) != 1) co_return "the call won";
  }
  co_await ctx.wait_for(finish);
  co_return "raced";
}

TEST_F(Delivery, ATurnFiresWhatItDrops) {
  registry_.add(racer, run_racer);
  run_without_keeper();
  client_.start(racer, "r");
  wait_for_begun("slow");
  client_.raise_event("r", command, "go");
  EXPECT_EQ(told("slow"), "the orchestration gave the call up");
  EXPECT_EQ(status("r"), ExecutionStatus::kRunning);
  client_.raise_event("r", finish);
  EXPECT_EQ(client_.wait("r", kHanging).output, "raced");
}

constexpr Orchestration<void()> leaver{"leaver"};

TEST_F(Delivery, ATurnFiresWhatItsEndCloses) {
  registry_.add(leaver, [](OrchestrationContext& ctx) -> Task<void> {
    ctx.call(toil, std::string("left")).detach();
    ctx.call(kid, std::string("child")).detach();
    co_await ctx.wait_for(command);
  });
  run_without_keeper();
  client_.start(leaver, "l");
  wait_for_begun("left");
  wait_for_begun("child");
  client_.raise_event("l", command, "leave");
  EXPECT_EQ(told("left"), "the orchestration gave the call up");
  EXPECT_EQ(told("child"), "parent 'l' completed");
  EXPECT_EQ(client_.wait("l", kHanging).status, ExecutionStatus::kCompleted);
}

TEST_F(Delivery, ADeadlineFiresWhatItCancels) {
  run_without_keeper();
  start_crew({.run_timeout = 2h});
  clock_.advance(2h);
  expect_crew_canceled("deadline");
}

constexpr Orchestration<std::string()> limited{"limited"};

TEST_F(Delivery, ASweepFiresWhatTimedOut) {
  registry_.add(limited, [](OrchestrationContext& ctx) -> Task<std::string> {
    auto call = ctx.call(toil, std::string("late"), {.timeout = 1h});
    auto end = co_await call.outcome();
    co_return end.ok() ? end.value() : end.failure().type;
  });
  run_without_keeper();
  client_.start(limited, "l");
  wait_for_begun("late");
  clock_.advance(1h);
  EXPECT_EQ(told("late"), "the time of the call is over");
  EXPECT_EQ(client_.wait("l", kHanging).output, "timeout");
}

constexpr Orchestration<void()> head{"head"};

/// A tree of two, of which a caller reaches the first alone; the rest is left to a housekeeper.
class DeliveryBelow : public Delivery {
 protected:
  DeliveryBelow() {
    registry_.add(head, [](OrchestrationContext& ctx) -> Task<void> {
      co_await ctx.call(kid, std::string("below"), {.id = "kid"});
    });
  }
  void start_tree() {
    run_without_keeper();
    client_.start(head, "h");
    wait_for_begun("below");
    store_.no_turns = true;  // the head does not reach it either
  }
};

TEST_F(DeliveryBelow, ACascadeFiresWhatItReaches) {
  start_tree();
  CancelOrchestration request;
  request.id = "h";
  request.reason = "storm";
  request.max_descendants = 0;
  EXPECT_TRUE(real_->cancel_orchestration(std::move(request)).value().cascading);
  EXPECT_EQ(told("below"), "storm");
  store_.no_turns = false;
  for (const char* id : {"h", "kid"}) {
    const RunStatus end = client_.wait(id, kHanging);
    EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
    EXPECT_EQ(end.cancel_reason, "storm");
  }
}

TEST_F(DeliveryBelow, ACascadeOfATerminateFiresWhatItReaches) {
  start_tree();
  TerminateOrchestration request;
  request.id = "h";
  request.reason = "now";
  request.max_descendants = 0;
  EXPECT_TRUE(real_->terminate_orchestration(std::move(request)).value().cascading);
  EXPECT_EQ(told("below"), "the run was terminated");
  EXPECT_EQ(status("kid"), ExecutionStatus::kTerminated);
}

TEST_F(DeliveryBelow, ADeletionThatGoesOnFiresWhatItReaches) {
  start_tree();
  DeleteInstance request;
  request.id = "h";
  request.force = true;
  request.limit = 1;
  const InstanceDeleted answer = real_->delete_instance(std::move(request)).value();
  EXPECT_EQ(answer.instances, 1);
  EXPECT_TRUE(answer.removing);
  EXPECT_EQ(told("below"), "the run was deleted");
  EXPECT_THROW(client_.status("kid"), NotFound);
}

// What a client of this process tells the runtimes that share its store object.

TEST_F(Delivery, ACancelOfAClientIsTold) {
  run_without_keeper();
  start_crew();
  EXPECT_TRUE(client_.cancel("c", "at once").changed);
  expect_crew_canceled("at once");
}

TEST_F(Delivery, ATerminateOfAClientIsTold) {
  run_without_keeper();
  start_crew();
  EXPECT_TRUE(client_.terminate("c", "now").changed);
  expect_crew_told("the run was terminated");
  EXPECT_EQ(status("c"), ExecutionStatus::kTerminated);
}

TEST_F(Delivery, ARemovalByForceIsTold) {
  run_without_keeper();
  start_crew();
  EXPECT_EQ(client_.remove("c", {.force = true}).runs, 1);
  expect_crew_told("the run was deleted");
  EXPECT_THROW(client_.status("c"), NotFound);
}

constexpr Orchestration<void(int)> heir{"heir"};

Task<void> run_heir(OrchestrationContext& ctx, int life) {
  if (life == 1) {
    ctx.call(toil, std::string("old"), {.on_cancel = OnCancel::kAbandon}).detach();
    co_await ctx.wait_for(command);
    co_await ctx.continue_as_new(heir, 2);
  }
  co_await ctx.wait_for(finish);
}

TEST_F(Delivery, APruneIsTold) {
  registry_.add(heir, run_heir);
  run_without_keeper();
  client_.start(heir, "h", 1);
  wait_for_begun("old");
  client_.raise_event("h", command, "go on");
  wait_for([&] { return client_.status("h").execution == 2; }, "the second life");
  EXPECT_EQ(book_->told("old"), "") << "it was abandoned";
  EXPECT_EQ(client_.prune("h").executions, 1);
  EXPECT_EQ(told("old"), "the run was deleted");
  EXPECT_EQ(status("h"), ExecutionStatus::kRunning);
}

TEST_F(Delivery, ACancelOfManyIsTold) {
  run_without_keeper();
  start_crew();
  client_.start(kid, "k", "kid");
  wait_for_begun("kid");
  EXPECT_EQ(client_.cancel_all({.name = "crew"}, "all of you").canceled, 1);
  EXPECT_EQ(client_.cancel_all({.name = "kid"}, "and you").canceled, 1);
  EXPECT_EQ(told("kid"), "and you");
  expect_crew_canceled("all of you");
}

TEST_F(Delivery, AStartThatReplacesARunIsTold) {
  run_without_keeper();
  start_crew();
  client_.start(crew, "c", {.on_conflict = OnConflict::kCancelExisting});
  expect_crew_told("replaced by a new start of 'c'");
  wait_for_begun("tried", 2);
  wait_for_begun("waited", 2);
  EXPECT_EQ(client_.status("c", 1).status, ExecutionStatus::kCanceled);
  EXPECT_EQ(client_.status("c").execution, 2);
}

// Before there is a handler.

TEST_F(Delivery, ACancelBetweenAClaimAndItsAnswerIsNotLost) {
  const auto claimed = std::make_shared<Gate>();
  store_.before_claimed = [this, claimed](const FetchedWorkItems& fetched) {
    if (fetched.items.empty() || claimed->is_open()) return;
    EXPECT_TRUE(client_.cancel("c", "in between").changed);
    claimed->open();
  };
  run_without_keeper();
  client_.start(crew, "c");
  const RunStatus end = client_.wait("c", kHanging);
  EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
  EXPECT_EQ(end.cancel_reason, "in between");
  EXPECT_TRUE(claimed->is_open());
  expect_nothing_left("c");
  runtime_->stop();
  EXPECT_EQ(book_->begun("tried"), 0);
  EXPECT_EQ(book_->begun("waited"), 0);
}

}  // namespace

}  // namespace perdure::test::delivery_test
