#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include <perdure/client.h>

#include "tests/live/live_fixture.h"

/// What the tests of causes share: a run that has one of everything that a cause can reach.
namespace perdure::test::causes {

inline constexpr Activity<std::string(std::string)> toil{"toil"};
inline constexpr Orchestration<std::string(std::string)> kid{"kid"};
inline constexpr Event<std::string> command{"command"};
inline constexpr Event<void> never{"never"};
inline constexpr Event<void> tick{"tick"};
inline constexpr const char* kNobody = "nobody";  ///< a queue that no runtime serves

inline Task<std::string> run_kid(OrchestrationContext& ctx, std::string name) {
  co_return co_await ctx.call(toil, name);
}

/// What handlers of `toil` tell and are told, by the name that is their input. Shared with them,
/// since one may outlive its test. Threading: any thread.
class Book {
 public:
  /// Works until it is released or told to stop.
  std::string toil_on(ActivityContext& ctx, const std::string& name) {
    std::unique_lock lock(mutex_);
    ++begun_[name];
    try {
      ctx.wait(changed_, lock, [&] { return released_.contains(name) || all_released_; });
    } catch (const Canceled& stop) {
      told_[name] = stop.reason();
      EXPECT_EQ(ctx.cancel_reason(), stop.reason());
      EXPECT_TRUE(ctx.is_cancellation_requested());
      changed_.wait(lock, [&] { return !holds_told_ || all_released_; });
      ++left_[name];
      if (told_answer_) return name + " in good order";
      throw;
    }
    ++left_[name];
    return name + " done";
  }

  void release(const std::string& name) {
    change([&] { released_.insert(name); });
  }
  void release_all() {
    change([&] { all_released_ = true; });
  }
  /// Those that are told to stop stay until it is over.
  void hold_told(bool hold) {
    change([&] { holds_told_ = hold; });
  }
  /// Those that are told to stop end with a result.
  void let_told_answer() {
    change([&] { told_answer_ = true; });
  }

  int begun(const std::string& name) { return of(begun_, name); }
  int left(const std::string& name) { return of(left_, name); }
  /// Why it was told to stop; empty: it was not.
  std::string told(const std::string& name) { return of(told_, name); }

 private:
  template <class Change>
  void change(Change change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }
  template <class T>
  T of(const std::map<std::string, T>& all, const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto found = all.find(name);
    return found == all.end() ? T{} : found->second;
  }

  std::mutex mutex_;
  std::condition_variable_any changed_;
  // Guarded by mutex_.
  std::map<std::string, int> begun_;
  std::map<std::string, int> left_;  ///< has returned or thrown
  std::map<std::string, std::string> told_;
  std::set<std::string> released_;
  bool all_released_ = false;
  bool holds_told_ = false;
  bool told_answer_ = false;
};

/// One of everything that a run can leave open: a call that waits for a worker, one that runs of
/// each `on_cancel`, a child of each close policy (whose own call runs), a timer, a wait. Made by
/// the code of a run, lives in its frame.
class Household {
 public:
  explicit Household(OrchestrationContext& ctx)
      : bound_id_(ctx.instance_id() + "/bound"),
        free_id_(ctx.instance_id() + "/free"),
        queued(ctx.call(toil, std::string("queued"), {.queue = kNobody})),
        tried(ctx.call(toil, std::string("tried"))),
        waited(ctx.call(toil, std::string("waited"), {.on_cancel = OnCancel::kWait})),
        abandoned(ctx.call(toil, std::string("abandoned"), {.on_cancel = OnCancel::kAbandon})),
        bound(ctx.call(kid, std::string("bound"), {.id = bound_id_})),
        free(ctx.call(
            kid, std::string("free"), {.id = free_id_, .close_policy = ClosePolicy::kAbandon})),
        alarm(ctx.timer(100h)),
        note(ctx.wait_for(never)) {}
  Household(const Household&) = delete;
  Household& operator=(const Household&) = delete;

  /// All but the wait goes on without this.
  void detach() {
    queued.detach();
    tried.detach();
    waited.detach();
    abandoned.detach();
    bound.detach();
    free.detach();
    alarm.detach();
  }

 private:
  std::string bound_id_;
  std::string free_id_;

 public:
  Call<std::string> queued;
  Call<std::string> tried;
  Call<std::string> waited;
  Call<std::string> abandoned;
  Future<std::string> bound;
  Future<std::string> free;
  Future<void> alarm;
  Future<void> note;
};

/// Before the store, which needs it.
struct OwnClock {
  VirtualClock clock_;
};

/// A live runtime over a store whose time stands still until a test moves it. Locks last for longer
/// than any test moves the time.
class Causes : protected OwnClock, public Live {
 protected:
  Causes() : Live(clock_) {
    registry_.add(kid, run_kid);
    registry_.add(toil, [book = book_](ActivityContext& ctx, const std::string& name) {
      return book->toil_on(ctx, name);
    });
  }
  ~Causes() override { book_->release_all(); }

  static RuntimeOptions options() {
    RuntimeOptions options = Live::options();
    options.worker_lock_timeout = 8'000h;
    options.orchestrator_lock_timeout = 8'000h;
    options.activity_cancellation_grace_period = 1h;
    return options;
  }
  Runtime& run(const RuntimeOptions& with = options()) { return Live::run(with); }

  /// Waits until all handlers of a household run.
  void wait_for_household(const std::string& id) {
    for (const char* name : {"tried", "waited", "abandoned", "bound", "free"}) wait_for_begun(name);
    EXPECT_EQ(stats(id).work_rows, 4) << "one of them waits for a worker";
    EXPECT_EQ(ready_in(kNobody), 1);
    ASSERT_EQ(status(id + "/bound"), ExecutionStatus::kRunning);
    ASSERT_EQ(status(id + "/free"), ExecutionStatus::kRunning);
  }
  void wait_for_begun(const std::string& name, int times = 1) {
    wait_for([&] { return book_->begun(name) >= times; }, name + " to begin");
  }
  /// Waits until it was told to stop; answers why.
  std::string told(const std::string& name) {
    wait_for([&] { return !book_->told(name).empty(); }, name + " to be told");
    return book_->told(name);
  }
  /// It was not told, and ends when it is released. Ask when others have been told that one commit
  /// reached with it.
  void expect_spared(const std::string& name) {
    EXPECT_EQ(book_->told(name), "");
    book_->release(name);
    wait_for([&] { return book_->left(name) == 1; }, name + " to return");
    EXPECT_EQ(book_->told(name), "");
  }
  /// Nothing that can start or fire is left of the run, and soon no row at all.
  void expect_nothing_left(const std::string& id) {
    EXPECT_EQ(ready_in(kNobody), 0);
    EXPECT_EQ(stats(id).queued_messages, 0);
    wait_for([&] { return stats(id).work_rows == 0; }, "the last rows of " + id);
  }

  /// Until the run has had a turn from now on, which sees all that is due for it.
  void wait_for_a_turn(const std::string& id) {
    const std::size_t before = texts(id, "event_received").size();
    EXPECT_EQ(client_.raise_event(id, tick), EventDelivered::kDelivered);
    wait_for([&] { return texts(id, "event_received").size() > before; }, "a turn of " + id);
  }

  InstanceStats stats(const std::string& id) { return real_->get_stats(id).value(); }
  ExecutionStatus status(const std::string& id) { return client_.status(id).status; }
  std::int64_t ready_in(const std::string& queue) { return calls(queue).ready; }
  std::int64_t claimed_in(const std::string& queue) { return calls(queue).claimed; }
  /// Texts of the events of a kind, of the current execution or the one given.
  std::vector<std::string> texts(const std::string& id,
                                 const std::string& kind,
                                 std::int64_t execution = 0) {
    std::vector<std::string> texts;
    for (const RunEvent& event : client_.history(id, {.execution = execution}).events) {
      if (event.kind == kind) texts.push_back(event.text);
    }
    return texts;
  }

  const std::shared_ptr<Book> book_ = std::make_shared<Book>();
  const Client client_{store()};

 private:
  QueuedCalls calls(const std::string& queue) {
    for (const QueueState& each : client_.queues().queues) {
      if (each.queue != queue) continue;
      for (const QueuedCalls& some : each.calls) {
        if (some.activity == toil.name()) return some;
      }
    }
    return {};
  }
};

}  // namespace perdure::test::causes
