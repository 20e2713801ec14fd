// Long activities: heartbeats that the next attempt goes on from, and handlers that do not stop.

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

namespace {

using Lines = std::vector<std::string>;

/// What handlers tell the test; shared with them, since one that does not stop outlives a runtime.
class Diary {
 public:
  void write(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    changed_.notify_all();
  }
  /// Waits until so many lines are there.
  Lines wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 60s, [&] { return lines_.size() >= count; });
    return lines_;
  }
  bool has(const std::string& line) {
    const std::lock_guard lock(mutex_);
    return std::find(lines_.begin(), lines_.end(), line) != lines_.end();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Lines lines_;
};

// Heartbeats

constexpr pd::Activity<int(int)> import_pages{"import_pages"};
constexpr pd::Orchestration<int(int)> import_book{"import_book"};

// [heartbeat_call]
pd::Task<int> run_import_book(pd::OrchestrationContext& ctx, int pages) {
  co_return co_await ctx.call(
      import_pages, pages, {.retry = pd::retry(3, 10ms), .heartbeat = 1min});
}
// [/heartbeat_call]

void import_page(pd::ActivityContext& ctx, Diary& diary, int page) {
  diary.write("page " + std::to_string(page));
  if (page == 3 && ctx.attempt() == 1) throw std::runtime_error("the service does not answer");
}

// [heartbeat]
int do_import_pages(pd::ActivityContext& ctx, Diary& diary, int pages) {
  int done = ctx.heartbeat_details<int>().value_or(0);  // where the attempt before this one was
  while (done < pages) {
    import_page(ctx, diary, done + 1);
    ctx.heartbeat(++done);  // as often as you like; throws pd::Canceled when it shall stop
  }
  return done;
}
// [/heartbeat]

TEST(LongWork, GoesOnWhereItsLastHeartbeatWas) {
  const auto diary = std::make_shared<Diary>();
  pd::Registry registry;
  registry.add(import_book, run_import_book);
  registry.add(import_pages, [diary](pd::ActivityContext& ctx, int pages) {
    return do_import_pages(ctx, *diary, pages);
  });
  const auto store = pd::open("sqlite::memory:");
  pd::Runtime runtime(store, registry);
  pd::Client client(store);
  EXPECT_EQ(client.start(import_book, "b-1", 4).wait(60s), 4);
  EXPECT_EQ(diary->wait_for(5), (Lines{"page 1", "page 2", "page 3", "page 3", "page 4"}));
}

constexpr pd::Orchestration<std::string(int)> silent_book{"silent_book"};

/// A handler that begins, gives one sign of life and hangs; a second one finds what it said.
int fall_silent(pd::ActivityContext& ctx, int pages) {
  if (const auto before = ctx.heartbeat_details<int>()) return *before;
  ctx.heartbeat(pages / 2);
  ctx.wait_until_canceled();
  throw pd::Canceled(ctx.cancel_reason());
}

TEST(LongWork, FailsWithATimeoutWhenItsHeartbeatsStop) {
  pd::Registry registry;
  registry.add(import_pages, fall_silent);
  registry.add(silent_book, [](pd::OrchestrationContext& ctx, int pages) -> pd::Task<std::string> {
    auto call = ctx.call(import_pages, pages, {.heartbeat = 50ms});
    const pd::Outcome<int> end = co_await call.outcome();
    co_return end.failure().type + ": " + end.failure().message;
  });
  const auto store = pd::open("sqlite::memory:");
  pd::Runtime runtime(store, registry);
  pd::Client client(store);
  EXPECT_EQ(client.start(silent_book, "b-1", 4).wait(60s),
            "timeout: the attempt gave no heartbeat for 50 ms");
}

TEST(LongWork, HandsItsLastHeartbeatOnAlsoWhenItFellSilent) {
  pd::Registry registry;
  registry.add(import_pages, fall_silent);
  registry.add(import_book, [](pd::OrchestrationContext& ctx, int pages) -> pd::Task<int> {
    co_return co_await ctx.call(
        import_pages, pages, {.retry = pd::retry(0, 1ms), .heartbeat = 50ms});
  });
  const auto store = pd::open("sqlite::memory:");
  pd::Runtime runtime(store, registry);
  pd::Client client(store);
  EXPECT_EQ(client.start(import_book, "b-1", 4).wait(60s), 2);
}

// Grace

constexpr pd::Activity<std::string(std::string)> convert{"convert"};
constexpr pd::Orchestration<std::string(std::string)> conversion{"conversion"};

pd::Task<std::string> run_conversion(pd::OrchestrationContext& ctx, std::string name) {
  co_return co_await ctx.call(convert, name);
}

TEST(LongWork, ThatDoesNotStopLosesItsSlotAfterGraceAndItsResultIsRefused) {
  const auto diary = std::make_shared<Diary>();
  pd::Registry registry;
  registry.add(conversion, run_conversion);
  registry.add(convert, [diary](std::string name) {
    diary->write(name + " begins");
    if (name == "deaf") diary->wait_for(3);  // a library that knows no stop token
    diary->write(name + " returns");
    return name;
  });
  const auto store = pd::open("sqlite::memory:");
  pd::Client client(store);
  // [grace]
  pd::RuntimeOptions options;
  options.max_concurrent_activities = 1;
  options.activity_cancellation_grace_period = 100ms;
  pd::Runtime runtime(store, registry, options);
  // [/grace]
  const auto deaf = client.start(conversion, "c-1", "deaf");
  EXPECT_EQ(diary->wait_for(1), Lines{"deaf begins"});
  // [grace_cancel]
  client.cancel("c-1", "not needed");
  EXPECT_THROW(deaf.wait(60s), pd::RunCanceled);  // at once: nobody waits for the handler
  const auto next = client.start(conversion, "c-2", "quick");
  EXPECT_EQ(next.wait(60s), "quick");  // when the slot is free: 100 ms after the cancel
  // [/grace_cancel]
  EXPECT_EQ(diary->wait_for(4),
            (Lines{"deaf begins", "quick begins", "quick returns", "deaf returns"}));
  runtime.stop();
  EXPECT_EQ(client.status("c-1").status, pd::ExecutionStatus::kCanceled);
}

constexpr pd::Orchestration<std::string(std::string)> awaited{"awaited"};

TEST(LongWork, ThatIsWaitedForIsWaitedForUntilTheEndOfGrace) {
  const auto diary = std::make_shared<Diary>();
  pd::Registry registry;
  registry.add(awaited, [](pd::OrchestrationContext& ctx, std::string n) -> pd::Task<std::string> {
    auto call = ctx.call(convert, n, {.on_cancel = pd::OnCancel::kWait});
    const pd::Outcome<std::string> end = co_await call.outcome();
    ctx.set_status(std::string(end ? "completed" : "not known"));
    co_return n;
  });
  registry.add(convert, [diary](std::string name) {
    diary->write(name + " begins");
    diary->wait_for(2);
    diary->write(name + " returns");
    return name;
  });
  const auto store = pd::open("sqlite::memory:");
  pd::Client client(store);
  pd::RuntimeOptions options;
  options.activity_cancellation_grace_period = 100ms;
  pd::Runtime runtime(store, registry, options);
  const auto run = client.start(awaited, "a-1", "deaf");
  EXPECT_EQ(diary->wait_for(1), Lines{"deaf begins"});
  client.cancel("a-1", "not needed");
  EXPECT_THROW(run.wait(60s), pd::RunCanceled);
  EXPECT_EQ(client.status("a-1").custom_status, "not known");
  EXPECT_FALSE(diary->has("deaf returns"));
  diary->write("let it go");
  EXPECT_EQ(diary->wait_for(3).size(), 3U);
}

}  // namespace
