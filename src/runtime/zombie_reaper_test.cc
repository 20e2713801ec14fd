#include "runtime/zombie_reaper.h"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/log.h"

namespace perdure::test::zombie_reaper_test {

namespace {

using namespace std::chrono_literals;
using runtime::Stray;
using runtime::ZombieCount;
using runtime::ZombieReaper;
using runtime::ZombieTimes;

class Reaper : public ::testing::Test {
 protected:
  Stray stray() const {
    Stray stray;
    stray.count = queue_;
    stray.what = [] { return std::string("a test"); };
    return stray;
  }
  ZombieReaper::Id watch() { return reaper_.watch(stray(), begin_); }
  /// When the next thing is due, in seconds after the begin; -1: never.
  double poll(std::chrono::milliseconds after) {
    const auto next = reaper_.poll_once(begin_ + after);
    return next ? std::chrono::duration<double>(*next - begin_).count() : -1;
  }

  const ZombieReaper::Time begin_ = steady_now();
  const std::shared_ptr<ZombieCount> queue_ = std::make_shared<ZombieCount>(0);
  ZombieReaper reaper_;
};

TEST_F(Reaper, TriesAgainAfterIntervalsThatDoubleUpToTheLongest) {
  watch();
  std::vector<double> tries;
  for (double next = poll(0ms); tries.size() < 10;
       next = poll(std::chrono::milliseconds(static_cast<int>(next * 1'000)))) {
    if (next != 10) tries.push_back(next);  // there it becomes a zombie
  }
  EXPECT_EQ(tries, (std::vector<double>{1, 3, 7, 15, 31, 63, 123, 183, 243, 303}));
}

TEST_F(Reaper, CountsAfterTheGraceAndNotBefore) {
  watch();
  poll(9'999ms);
  EXPECT_EQ(reaper_.count(), 0U);
  poll(10s);
  EXPECT_EQ(reaper_.count(), 1U);
  EXPECT_EQ(*queue_, 1);
  poll(60s);
  EXPECT_EQ(reaper_.count(), 1U) << "once";
}

TEST_F(Reaper, ForgetsOneThatReturnsInTime) {
  reaper_.returned(watch());
  poll(10s);
  EXPECT_EQ(reaper_.count(), 0U);
  EXPECT_EQ(poll(20s), -1) << "nothing is left to do";
}

TEST_F(Reaper, DoesNotCountOneAnyMoreThatReturns) {
  const ZombieReaper::Id id = watch();
  poll(10s);
  reaper_.returned(id);
  EXPECT_EQ(reaper_.count(), 0U);
  EXPECT_EQ(*queue_, 0);
  EXPECT_TRUE(reaper_.wait_until_none({queue_}, steady_now()));
}

TEST_F(Reaper, WaitsForThoseThatAreNotCountedYetToo) {
  const auto other = std::make_shared<ZombieCount>(0);
  const ZombieReaper::Id id = watch();
  EXPECT_FALSE(reaper_.wait_until_none({queue_}, steady_now()));
  EXPECT_TRUE(reaper_.wait_until_none({other}, steady_now())) << "it is none of theirs";
  EXPECT_EQ(reaper_.alive({other, queue_}), 1U);
  poll(10s);
  EXPECT_EQ(reaper_.alive({other, queue_}), 1U) << "once";
  watch();
  EXPECT_EQ(reaper_.alive({other, queue_}), 2U);
  reaper_.returned(id);
  EXPECT_EQ(reaper_.alive({queue_}), 1U);
}

TEST_F(Reaper, CountsOneThatWasGivenUpForEver) {
  const ZombieReaper::Id id = watch();
  EXPECT_EQ(poll(1h), -1) << "it is left to itself";
  EXPECT_EQ(reaper_.count(), 1U);
  reaper_.returned(id);
  EXPECT_EQ(reaper_.count(), 1U);
  EXPECT_FALSE(reaper_.wait_until_none({queue_}, steady_now()));
}

TEST_F(Reaper, TellsThoseWhoListenOfEachThatComes) {
  std::vector<std::size_t> heard;
  watch();
  poll(10s);
  {
    const ZombieReaper::Listening listening(reaper_,
                                            [&](std::size_t count) { heard.push_back(count); });
    watch();
    poll(10s);
    watch();
    poll(10s);
  }
  watch();
  poll(10s);
  EXPECT_EQ(heard, (std::vector<std::size_t>{1, 2, 3}));
}

TEST_F(Reaper, IsWokenByWhatIsEarlierThanAllElse) {
  const auto far = reaper_.poll_once(begin_);
  EXPECT_FALSE(far);
  watch();
  reaper_.wait(begin_ + 1h);  // returns at once
  EXPECT_EQ(poll(0ms), 1);
}

TEST_F(Reaper, KeepsToTheTimesThatItIsTold) {
  Stray impatient = stray();
  impatient.times = {
      .retry_interval = 2s, .retry_max_delay = 5s, .grace = 4s, .give_up_after = 20s};
  reaper_.watch(std::move(impatient), begin_);
  EXPECT_EQ(poll(0ms), 2);
  EXPECT_EQ(poll(2s), 4) << "the end of its grace";
  EXPECT_EQ(reaper_.count(), 0U);
  EXPECT_EQ(poll(4s), 6);
  EXPECT_EQ(reaper_.count(), 1U);
  EXPECT_EQ(poll(6s), 11) << "not 8 s later";
  EXPECT_EQ(poll(11s), 16);
  EXPECT_EQ(poll(16s), 20);
  EXPECT_EQ(poll(20s), -1);
}

TEST_F(Reaper, IsToldTheTimesOfARuntime) {
  RuntimeOptions options;
  options.zombie_retry_interval = 2s;
  options.zombie_retry_max_delay = 3s;
  options.zombie_grace_period = 4s;
  options.zombie_give_up_after = 5s;
  const ZombieTimes times = runtime::zombie_times(options);
  EXPECT_EQ(times.retry_interval, 2s);
  EXPECT_EQ(times.retry_max_delay, 3s);
  EXPECT_EQ(times.grace, 4s);
  EXPECT_EQ(times.give_up_after, 5s);
}

class ReaperLog : public Reaper {
 protected:
  ReaperLog() {
    log::set_sink([this](log::Level level, std::string_view line) {
      lines_.with([&](std::vector<std::string>& all) {
        all.push_back(std::string(to_string(level)) + " " + std::string(line));
      });
    });
  }
  ~ReaperLog() override { log::set_sink({}); }

  /// Since the last time.
  std::vector<std::string> take_lines() {
    return lines_.with([](std::vector<std::string>& all) { return std::exchange(all, {}); });
  }

  Guarded<std::vector<std::string>> lines_;
};

TEST_F(ReaperLog, SaysNothingBeforeTheGraceIsOverThenOnceAndOnceMoreAtTheEnd) {
  watch();
  poll(9'999ms);
  EXPECT_TRUE(take_lines().empty()) << "although it was tried to end it, at 1, 3 and 7 s";
  poll(10s);
  EXPECT_EQ(take_lines(),
            (std::vector<std::string>{
                "error a zombie: it was told to stop, and its thread runs on what=\"a test\" "
                "seconds=10 zombies=1 stack=\"not seen\""}));
  poll(3'599s);
  EXPECT_TRUE(take_lines().empty());
  poll(1h);
  EXPECT_EQ(take_lines(),
            (std::vector<std::string>{"error a zombie is given up: its thread is left to itself "
                                      "until the process ends what=\"a test\""}));
}

TEST_F(ReaperLog, SaysThatAZombieHasReturnedButNothingOfOneThatStoppedInTime) {
  reaper_.returned(watch());
  poll(10s);
  EXPECT_TRUE(take_lines().empty());
  const ZombieReaper::Id late = watch();
  poll(10s);
  EXPECT_EQ(take_lines().size(), 1U);
  reaper_.returned(late);
  const std::vector<std::string> lines = take_lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find("warning a zombie has returned what=\"a test\""), 0U) << lines[0];
}

/// A thread inside a gate that reads from a pipe, and again whenever that is interrupted, until it
/// may leave.
class Reader {
 public:
  explicit Reader(KickGate& gate) {
    EXPECT_EQ(::pipe(pipe_), 0);
    thread_ = std::thread([this, &gate] {
      const KickGate::Inside inside(gate);
      id_ = ThreadRef::current().kernel_id;
      char byte = 0;
      while (::read(pipe_[0], &byte, 1) < 0 && errno == EINTR) ++interrupted_;
    });
    while (id_ == 0) std::this_thread::yield();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() {
    EXPECT_EQ(::write(pipe_[1], "x", 1), 1);
    thread_.join();
    for (const int end : pipe_) ::close(end);
  }

  /// How often it was interrupted until now, what was sent to it included: it is looked at when it
  /// sleeps in its read.
  int interrupted() {
    const auto until = steady_now() + 60s;
    while (!sleeps()) {
      EXPECT_LT(steady_now(), until);
      if (steady_now() >= until) break;
      std::this_thread::yield();
    }
    return interrupted_;
  }

 private:
  bool sleeps() const {
    std::ifstream file("/proc/self/task/" + std::to_string(id_) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");
    return name_end != std::string::npos && text.compare(name_end + 2, 1, "S") == 0;
  }

  int pipe_[2] = {-1, -1};  // NOLINT: for the system
  std::atomic<pid_t> id_{0};
  std::atomic<int> interrupted_{0};
  std::thread thread_;
};

class WatchedReader : public ReaperLog {
 protected:
  /// How often the thread was kicked when that time has come.
  int kicks_at(std::chrono::milliseconds after) {
    static_cast<void>(reader_.interrupted());  // it sleeps: no kick comes before its read
    poll(after);
    return reader_.interrupted();
  }
  ZombieReaper::Id watch_it(bool kicks) {
    Stray reading = stray();
    reading.gate = gate_;
    reading.kicks = kicks;
    return reaper_.watch(std::move(reading), begin_);
  }

  const std::shared_ptr<KickGate> gate_ = std::make_shared<KickGate>();
  Reader reader_{*gate_};
};

TEST_F(WatchedReader, IsKickedFirstAfterASecondThenAtEachRetryUntilItIsGivenUp) {
  watch_it(true);
  EXPECT_EQ(kicks_at(0ms), 0);
  EXPECT_EQ(kicks_at(999ms), 0);
  EXPECT_EQ(kicks_at(1s), 1) << "the first kick ends the read";
  EXPECT_EQ(kicks_at(2'999ms), 1);
  EXPECT_EQ(kicks_at(3s), 2);
  EXPECT_EQ(kicks_at(6'999ms), 2);
  EXPECT_EQ(kicks_at(7s), 3);
  EXPECT_EQ(kicks_at(14'999ms), 3) << "a look at its stack is no kick";
  EXPECT_EQ(reaper_.count(), 1U) << "a zombie all the same: its code ignores what ends its calls";
  EXPECT_EQ(kicks_at(15s), 4);
  EXPECT_EQ(kicks_at(31s), 5);
  EXPECT_EQ(kicks_at(63s), 6);
  EXPECT_EQ(kicks_at(122'999ms), 6);
  EXPECT_EQ(kicks_at(123s), 7) << "never more than a minute apart";
  const int kicks = kicks_at(1h);
  EXPECT_EQ(kicks_at(2h), kicks) << "it is left to itself";
  EXPECT_EQ(reaper_.count(), 1U);
}

TEST_F(WatchedReader, IsNotKickedWhenItDoesNotSayThatItCanBe) {
  watch_it(false);
  EXPECT_EQ(kicks_at(1h), 0);
  EXPECT_EQ(reaper_.count(), 1U);
}

TEST_F(WatchedReader, IsNotKickedAnyMoreWhenItHasReturned) {
  reaper_.returned(watch_it(true));
  EXPECT_EQ(kicks_at(1h), 0);
}

/// A thread inside a gate that waits until this goes. Not in a read: there a thread sanitizer holds
/// back what is asked by a signal; in its first wait it may lose it.
class Sleeper {
 public:
  explicit Sleeper(KickGate& gate) {
    thread_ = std::thread([this, &gate] {
      ::poll(nullptr, 0, 0);
      const KickGate::Inside inside(gate);
      std::unique_lock lock(mutex_);
      sleeps_ = true;
      changed_.notify_all();
      changed_.wait(lock, [this] { return over_; });
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return sleeps_; });
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool sleeps_ = false;
  bool over_ = false;
  std::thread thread_;
};

TEST_F(ReaperLog, HasTheStackOfAZombie) {
  Stray sleeping = stray();
  sleeping.gate = std::make_shared<KickGate>();
  const Sleeper sleeper(*sleeping.gate);
  reaper_.watch(std::move(sleeping), begin_);
  poll(10s);
  const std::vector<std::string> lines = take_lines();
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("libc.so"), std::string::npos) << lines[0];
}

}  // namespace

}  // namespace perdure::test::zombie_reaper_test
