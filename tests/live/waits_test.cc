#include <array>
#include <future>
#include <thread>

#include "tests/live/causes_fixture.h"

/// Whatever a run or a handler waits for, and however: every cause ends the wait, and tells why.
namespace perdure::test::waits_test {

namespace {

using causes::command;
using causes::kid;
using causes::kNobody;
using causes::never;
using causes::toil;

constexpr Orchestration<void(std::string)> waiter{"waiter"};
constexpr Orchestration<void(std::string)> parent{"parent"};
constexpr Orchestration<std::string(std::string)> racer{"racer"};
constexpr Event<void> finish{"finish"};

/// What a run can wait for. Its id, and the name of its handler if it has one.
constexpr std::array kWaits = {"timer", "event", "running", "queued", "child", "any"};

bool has_handler(const std::string& what) {
  return what == "running" || what == "child" || what == "any";
}

Task<void> wait_for_it(OrchestrationContext& ctx, std::string what) {
  if (what == "timer") co_await ctx.timer(100h);
  if (what == "event") co_await ctx.wait_for(never);
  if (what == "running") co_await ctx.call(toil, what);
  if (what == "queued") co_await ctx.call(toil, what, {.queue = kNobody});
  if (what == "child") {
    const std::string id = what + "/kid";
    co_await ctx.call(kid, what, {.id = id});
  }
  if (what == "any") {
    auto alarm = ctx.timer(100h);
    auto note = ctx.wait_for(never);
    auto call = ctx.call(toil, what);
    co_await when_any(alarm, note, call);
    co_await call;  // canceled like the others; which was first does not matter
  }
}

/// Shows that it waits, and why it has stopped.
Task<void> run_waiter(OrchestrationContext& ctx, std::string what) {
  ctx.set_status("waits");
  try {
    co_await wait_for_it(ctx, what);
  } catch (const Canceled& stop) {
    ctx.set_status("stopped: " + stop.reason());
    throw;
  }
}

Task<void> run_parent(OrchestrationContext& ctx, std::string what) {
  co_await ctx.call(waiter, what, {.id = what});
}

/// The wait loses against an event, and the run goes on.
Task<std::string> run_racer(OrchestrationContext& ctx, std::string what) {
  {
    auto waiting = ctx.spawn(run_waiter(ctx, what));
    auto go = ctx.wait_for(command);
    if (co_await when_any(waiting, go) != 1) co_return "the wait has won";
  }
  co_await ctx.wait_for(finish);
  co_return "still here";
}

/// One run for each kind of wait, all at once. Only the process that commits a stop tells handlers,
/// so that the reason is known.
class Waits : public causes::Causes {
 protected:
  Waits() {
    registry_.add(waiter, run_waiter);
    registry_.add(parent, run_parent);
    registry_.add(racer, run_racer);
    store_.deaf = true;
    RuntimeOptions quiet = options();
    quiet.cancellation_poll_interval = 10min;
    run(quiet);
  }

  template <class Each>
  static void for_each_wait(Each each) {
    for (const std::string what : kWaits) {
      SCOPED_TRACE(what);
      each(what);
    }
  }
  void wait_until_all_wait() {
    for_each_wait([&](const std::string& what) {
      wait_for([&] { return shows(what, "waits"); }, what + " to wait");
      if (has_handler(what)) wait_for_begun(what);
    });
    EXPECT_EQ(ready_in(kNobody), 1);
  }
  /// Every one of them has ended, canceled for that reason, and so has all that it waited for.
  void expect_all_canceled(const std::string& reason) {
    for_each_wait([&](const std::string& what) {
      const RunStatus end = client_.wait(what, kHanging);
      EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
      EXPECT_EQ(end.cancel_reason, reason);
      EXPECT_EQ(end.custom_status, "stopped: " + reason);
      EXPECT_EQ(texts(what, "cancel_requested"), std::vector{reason});
      EXPECT_EQ(has_handler(what) ? told(what) : reason, reason);
    });
    expect_kid_canceled(reason);
    for_each_wait([&](const std::string& what) { expect_nothing_left(what); });
    EXPECT_EQ(book_->begun("queued"), 0);
  }
  void expect_kid_canceled(const std::string& reason) {
    const RunStatus end = client_.wait("child/kid", kHanging);
    EXPECT_EQ(end.status, ExecutionStatus::kCanceled);
    EXPECT_EQ(end.cancel_reason, reason);
  }
  /// False also when there is no such run yet.
  bool shows(const std::string& id, const std::string& text) {
    try {
      return client_.status(id).custom_status == text;
    } catch (const NotFound&) {
      return false;
    }
  }
};

TEST_F(Waits, EndWithACancel) {
  for_each_wait([&](const std::string& what) { client_.start(waiter, what, what); });
  wait_until_all_wait();
  for_each_wait([&](const std::string& what) { client_.cancel(what, "enough"); });
  expect_all_canceled("enough");
}

TEST_F(Waits, EndWithTheDeadlineOfTheRun) {
  for_each_wait(
      [&](const std::string& what) { client_.start(waiter, what, what, {.run_timeout = 2h}); });
  wait_until_all_wait();
  clock_.advance(2h);
  expect_all_canceled("deadline");
}

TEST_F(Waits, EndWithACancelOfTheParent) {
  for_each_wait([&](const std::string& what) { client_.start(parent, "of " + what, what); });
  wait_until_all_wait();
  for_each_wait([&](const std::string& what) { client_.cancel("of " + what, "storm"); });
  expect_all_canceled("storm");
  for_each_wait([&](const std::string& what) {
    EXPECT_EQ(client_.wait("of " + what, kHanging).status, ExecutionStatus::kCanceled);
  });
}

TEST_F(Waits, EndWhenTheyLoseARace) {
  for_each_wait([&](const std::string& what) { client_.start(racer, what, what); });
  wait_until_all_wait();
  for_each_wait([&](const std::string& what) { client_.raise_event(what, command, "go"); });
  for_each_wait([&](const std::string& what) {
    wait_for([&] { return shows(what, "stopped: dropped"); }, what + " to be dropped");
    EXPECT_EQ(status(what), ExecutionStatus::kRunning);
    EXPECT_EQ(client_.status(what).cancel_reason, "");
    const bool below = what == "child";
    if (below) expect_kid_canceled("dropped by parent 'child'");
    if (has_handler(what)) {
      EXPECT_EQ(told(what),
                below ? "dropped by parent 'child'" : "the orchestration gave the call up");
    }
    // The answer of a dropped child may be on its way; a timer would stay.
    wait_for([&] { return stats(what).queued_messages == 0; }, "the timer to be gone");
    wait_for([&] { return stats(what).work_rows == 0; }, "the rows to be gone");
    client_.raise_event(what, finish);
    EXPECT_EQ(client_.wait(what, kHanging).output, "still here");
  });
  EXPECT_EQ(ready_in(kNobody), 0);
  EXPECT_EQ(book_->begun("queued"), 0);
}

constexpr Activity<std::string(std::string)> labor{"labor"};
constexpr Orchestration<std::string(std::string)> boss{"boss"};
constexpr Orchestration<std::string(std::string)> hurried{"hurried"};

Task<std::string> run_boss(OrchestrationContext& ctx, std::string way) {
  co_return co_await ctx.call(labor, way);
}
/// Until an attempt has begun in time, and been ended by its limit.
Task<std::string> run_hurried(OrchestrationContext& ctx, std::string way) {
  co_return co_await ctx.call(labor, way, {.retry = retry(0, 1ms), .start_to_close = 500ms});
}

void wait_on_a_condition(ActivityContext& ctx) {
  std::mutex mutex;
  std::condition_variable_any nothing;
  std::unique_lock lock(mutex);
  ctx.wait(nothing, lock, [] { return false; });
}
void wait_until_told(ActivityContext& ctx) {
  const std::string reason = ctx.wait_until_canceled();
  EXPECT_EQ(reason, ctx.cancel_reason());
  ctx.throw_if_canceled();
}
void beat(ActivityContext& ctx) {
  for (;;) {
    ctx.heartbeat();
    std::this_thread::sleep_for(1ms);
  }
}
void look(ActivityContext& ctx) {
  while (!ctx.is_cancellation_requested()) std::this_thread::sleep_for(1ms);
  ctx.throw_if_canceled();
}
void wait_for_a_thread(ActivityContext& ctx) {
  std::jthread helper([token = ctx.stop_token()] {
    while (!token.stop_requested()) std::this_thread::sleep_for(1ms);
  });
  helper.join();
  ctx.throw_if_canceled();
}

struct Way {
  const char* name;
  void (*listen)(ActivityContext&);
};

/// How a handler can listen; its name is the id of its run.
constexpr std::array kWays = {
    Way{"sleep_for", [](ActivityContext& ctx) { ctx.sleep_for(1h); }},
    Way{"wait", wait_on_a_condition},
    Way{"wait_until_canceled", wait_until_told},
    Way{"heartbeat", beat},
    Way{"look", look},
    Way{"token in a thread", wait_for_a_thread},
};

/// What handlers have been told, by their way to listen. Shared with them. Threading: any thread.
class Diary {
 public:
  void begin(const std::string& way) {
    const std::lock_guard lock(mutex_);
    ++begun_[way];
  }
  /// The first one is kept.
  void note(const std::string& way, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    std::string& first = reasons_[way];
    if (first.empty()) first = reason;
  }
  int begun(const std::string& way) {
    const std::lock_guard lock(mutex_);
    return begun_[way];
  }
  /// Empty: nothing yet.
  std::string reason(const std::string& way) {
    const std::lock_guard lock(mutex_);
    return reasons_[way];
  }

 private:
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, int> begun_;
  std::map<std::string, std::string> reasons_;
};

/// A handler of each way at once. Each listens until it has been told once; a later attempt of the
/// call completes.
class HandlerWaits : public causes::Causes {
 protected:
  HandlerWaits() {
    registry_.add(boss, run_boss);
    registry_.add(hurried, run_hurried);
    registry_.add(labor, [diary = diary_](ActivityContext& ctx, const std::string& name) {
      diary->begin(name);
      if (!diary->reason(name).empty()) return std::string("again");
      try {
        for (const Way& way : kWays) {
          if (way.name == name) way.listen(ctx);
        }
      } catch (const Canceled& stop) {
        diary->note(name, stop.reason());
        throw;
      }
      return std::string("was not told");
    });
  }

  void start_all(const Orchestration<std::string(std::string)>& orchestration) {
    for (const Way& way : kWays) client_.start(orchestration, way.name, way.name);
    for (const Way& way : kWays) {
      pass_time_until([&] { return diary_->begun(way.name) > 0; }, way.name);
    }
  }
  /// An attempt that was late to begin is made again when the time of the store moves on.
  void pass_time_until(const std::function<bool()>& done, const std::string& what) {
    wait_for(
        [&] {
          clock_.advance(1ms);
          return done();
        },
        what);
  }
  void expect_all_told(const std::string& reason) {
    for (const Way& way : kWays) {
      SCOPED_TRACE(way.name);
      pass_time_until([&] { return !diary_->reason(way.name).empty(); }, "a handler that is told");
      EXPECT_EQ(diary_->reason(way.name), reason);
    }
  }
  /// The calls are not lost with the attempts that were stopped.
  void expect_all_made_again() {
    for (const Way& way : kWays) {
      SCOPED_TRACE(way.name);
      pass_time_until([&] { return is_terminal(status(way.name)); }, "the next attempt");
      EXPECT_EQ(client_.status(way.name).output, "again");
      EXPECT_GE(diary_->begun(way.name), 2);
    }
  }

  const std::shared_ptr<Diary> diary_ = std::make_shared<Diary>();
};

TEST_F(HandlerWaits, EndWithACancel) {
  run();
  start_all(boss);
  for (const Way& way : kWays) client_.cancel(way.name, "enough");
  expect_all_told("enough");
  for (const Way& way : kWays) {
    SCOPED_TRACE(way.name);
    EXPECT_EQ(client_.wait(way.name, kHanging).status, ExecutionStatus::kCanceled);
    EXPECT_EQ(diary_->begun(way.name), 1);
    expect_nothing_left(way.name);
  }
}

TEST_F(HandlerWaits, EndWithTheTimeOfTheAttempt) {
  run();
  start_all(hurried);
  expect_all_told("the attempt took longer than its start_to_close of 500 ms");
  expect_all_made_again();
}

TEST_F(HandlerWaits, EndWithTheClaim) {
  store_.deaf = true;
  store_.claims_unknown = true;  // or the keeper of claims might be the first to find them gone
  run();
  start_all(boss);
  const auto processes = real_->list_processes().value();
  ASSERT_EQ(processes.size(), 1u);
  ASSERT_TRUE(real_->take_over({processes[0].epoch}).ok());
  expect_all_told("this process was taken for dead: its work was given to others");
  expect_all_made_again();
}

TEST_F(HandlerWaits, EndWithTheShutdownOfTheWorker) {
  RuntimeOptions hasty = options();
  hasty.shutdown_grace_period = 0ms;
  hasty.shutdown_force_timeout = kHanging;
  run(hasty);
  start_all(boss);
  runtime_->stop();
  expect_all_told("the worker shuts down");
  for (const Way& way : kWays) EXPECT_EQ(stats(way.name).work_rows, 1) << way.name;
  run(hasty);
  expect_all_made_again();
}

}  // namespace

}  // namespace perdure::test::waits_test
