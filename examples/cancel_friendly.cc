// Activities that stop when their run is canceled: by sleeping, by looking, with their own threads.

#include <atomic>
#include <functional>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

constexpr pd::Activity<void()> sleeper{"sleeper"};
constexpr pd::Activity<void()> looker{"looker"};
constexpr pd::Activity<void()> threaded{"threaded"};
constexpr pd::Orchestration<void()> backup{"backup"};

pd::Task<void> run_backup(pd::OrchestrationContext& ctx) {
  auto first = ctx.call(sleeper);
  auto second = ctx.call(looker);
  auto third = ctx.call(threaded);
  co_await pd::when_all(first, second, third);  // throws pd::Canceled here
}

// [sleep]
void wait_for_the_tape(pd::ActivityContext& ctx) {
  for (;;) ctx.sleep_for(1h);  // wakes at once and throws pd::Canceled
}
// [/sleep]

// [look]
void checksum_everything(pd::ActivityContext& ctx) {
  for (std::int64_t block = 0;; ++block) {  // work between two looks takes milliseconds
    ctx.throw_if_canceled();                // or ctx.heartbeat(block), which throws as well
    std::this_thread::yield();
  }
}
// [/look]

// [threads]
void copy_with_a_thread(pd::ActivityContext& ctx) {
  std::jthread copier([token = ctx.stop_token()] {
    while (!token.stop_requested()) std::this_thread::yield();
  });
  copier.join();
  ctx.throw_if_canceled();  // a copy that was given up is no result
}
// [/threads]

struct Diary {
  std::mutex mutex;
  std::set<std::string> lines;
  std::atomic<int> begun = 0;
};

// [clean]
auto watched(Diary& diary, std::string name, void (*handler)(pd::ActivityContext&)) {
  return [&diary, name, handler](pd::ActivityContext& ctx) {
    ++diary.begun;
    diary.begun.notify_all();
    try {
      handler(ctx);
    } catch (const pd::Canceled& stop) {
      const std::lock_guard lock(diary.mutex);
      diary.lines.insert(name + " stopped: " + stop.reason());
      throw;  // clean up, then let it go on
    }
  };
}
// [/clean]

int main(int argc, char** argv) {
  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");
  Diary diary;
  pd::Registry registry;
  registry.add(sleeper, watched(diary, "sleeper", wait_for_the_tape));
  registry.add(looker, watched(diary, "looker", checksum_everything));
  registry.add(threaded, watched(diary, "threaded", copy_with_a_thread));
  registry.add(backup, run_backup);
  pd::Runtime runtime(store, registry);
  pd::Client client(store);

  const auto run = client.start(backup, "backup-1");
  for (int seen = diary.begun; seen < 3; seen = diary.begun) diary.begun.wait(seen);
  // [cancel]
  const pd::CancelResult answer = client.cancel("backup-1", "the tape is full");
  std::cout << (answer.changed ? "stored" : "had ended before") << '\n';
  const pd::RunStatus end = client.wait("backup-1", 30s);
  std::cout << "canceled: " << end.cancel_reason << '\n';
  // [/cancel]
  runtime.stop();  // waits until the handlers have returned
  for (const std::string& line : diary.lines) std::cout << line << '\n';
}

// Prints:
//   stored
//   canceled: the tape is full
//   looker stopped: the tape is full
//   sleeper stopped: the tape is full
//   threaded stopped: the tape is full
