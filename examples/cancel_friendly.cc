// Activities that stop when their run is canceled: by sleeping, by looking, by waiting for
// something, with their own threads, and in the middle of a call that knows no tokens.

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <iostream>
#include <mutex>
#include <set>
#include <stop_token>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

constexpr pd::Activity<void()> sleeper{"sleeper"};
constexpr pd::Activity<void()> looker{"looker"};
constexpr pd::Activity<void()> waiter{"waiter"};
constexpr pd::Activity<void()> threaded{"threaded"};
constexpr pd::Activity<void()> blocker{"blocker"};
constexpr pd::Orchestration<void()> backup{"backup"};

pd::Task<void> run_backup(pd::OrchestrationContext& ctx) {
  auto first = ctx.call(sleeper);
  auto second = ctx.call(looker);
  auto third = ctx.call(waiter);
  auto fourth = ctx.call(threaded);
  auto fifth = ctx.call(blocker);
  co_await pd::when_all(first, second, third, fourth, fifth);  // throws pd::Canceled here
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

struct Inbox {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<std::string> letters;
};
Inbox inbox;

// [wait]
void answer_a_letter(pd::ActivityContext& ctx) {
  std::unique_lock lock(inbox.mutex);
  ctx.wait(inbox.changed, lock, [&] { return !inbox.letters.empty(); });  // or throws pd::Canceled
  inbox.letters.pop_front();
}
// [/wait]

// [threads]
void copy_with_a_thread(pd::ActivityContext& ctx) {
  std::jthread copier([token = ctx.stop_token()] {
    while (!token.stop_requested()) std::this_thread::yield();
  });
  copier.join();
  ctx.throw_if_canceled();  // a copy that was given up is no result
}
// [/threads]

std::array<int, 2> connect_to_nobody() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0) return ends;
  throw std::runtime_error("no sockets");
}

// [callback]
void read_from_outside(pd::ActivityContext& ctx) {
  const std::array<int, 2> ends = connect_to_nobody();
  char byte = 0;
  ssize_t got = 0;
  {
    const std::stop_callback hang_up(ctx.stop_token(), [&] { ::shutdown(ends[0], SHUT_RDWR); });
    got = ::read(ends[0], &byte, 1);  // blocks, and knows no tokens
  }
  for (const int end : ends) ::close(end);
  ctx.throw_if_canceled();
  if (got != 1) throw std::runtime_error("nothing came");
}
// [/callback]

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
  registry.add(waiter, watched(diary, "waiter", answer_a_letter));
  registry.add(threaded, watched(diary, "threaded", copy_with_a_thread));
  registry.add(blocker, watched(diary, "blocker", read_from_outside));
  registry.add(backup, run_backup);
  pd::Runtime runtime(store, registry);
  pd::Client client(store);

  const auto run = client.start(backup, "backup-1");
  for (int seen = diary.begun; seen < 5; seen = diary.begun) diary.begun.wait(seen);
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
//   blocker stopped: the tape is full
//   looker stopped: the tape is full
//   sleeper stopped: the tape is full
//   threaded stopped: the tape is full
//   waiter stopped: the tape is full
