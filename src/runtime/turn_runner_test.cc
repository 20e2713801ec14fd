#include "runtime/turn_runner.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "base/log.h"

namespace perdure::runtime {

namespace {

using namespace std::chrono_literals;

/// Shared with code that may outlive a test.
struct Barred {
  void open() {
    {
      const std::lock_guard lock(mutex);
      is_open = true;
    }
    changed.notify_all();
  }
  bool wait(std::chrono::milliseconds bound = 60s) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, bound, [this] { return is_open; });
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool is_open = false;
};

/// What became of a piece; shared with it.
struct Fate {
  std::atomic<int> ran{0};
  std::atomic<int> discarded{0};
  Guarded<std::thread::id> on;
};

class SomeCode final : public UserCode {
 public:
  SomeCode(CodeOwner whose, std::function<void()> code, std::shared_ptr<Fate> fate)
      : UserCode(std::move(whose)), code_(std::move(code)), fate_(std::move(fate)) {}

  void run() override {
    fate_->on.with([](std::thread::id& id) { id = std::this_thread::get_id(); });
    if (code_) code_();
    ++fate_->ran;
  }
  void discard() noexcept override {
    ++fate_->discarded;
    EXPECT_EQ(thread(*fate_), std::this_thread::get_id());
  }
  static std::thread::id thread(const Fate& fate) {
    return fate.on.with([](const std::thread::id& id) { return id; });
  }

 private:
  std::function<void()> code_;
  std::shared_ptr<Fate> fate_;
};

class TurnRunnerTest : public ::testing::Test {
 protected:
  TurnRunnerTest() {
    log::set_sink([lines = lines_](log::Level, std::string_view line) {
      lines->with([&](std::string& all) { all.append(line).append("\n"); });
    });
  }
  ~TurnRunnerTest() override {
    door_->open();
    log::set_sink({});
  }

  std::shared_ptr<SomeCode> piece(Duration limit, std::function<void()> code = {}) {
    fates_.push_back(std::make_shared<Fate>());
    const auto number = static_cast<std::int64_t>(fates_.size());
    return std::make_shared<SomeCode>(
        CodeOwner{InstanceKey{number}, "i" + std::to_string(number), "stroll", limit},
        std::move(code),
        fates_.back());
  }
  std::function<void()> blocks() {
    return [door = door_] { EXPECT_TRUE(door->wait()); };
  }
  TurnRunner::Parts parts() {
    TurnRunner::Parts parts;
    parts.quarantine = quarantine_;
    parts.on_stuck = [told = told_, back = back_](const StuckTurn& turn) {
      told->with([&](std::vector<StuckTurn>& all) { all.push_back(turn); });
      return [back] { back->open(); };
    };
    return parts;
  }
  /// With a deadline that is not known yet.
  TurnRunner::Parts stoppable() {
    deadline_ = std::make_shared<StopDeadline>();
    TurnRunner::Parts made = parts();
    made.deadline = deadline_;
    return made;
  }
  bool logged(std::string_view text) const {
    return lines_->with(
        [&](const std::string& all) { return all.find(text) != std::string::npos; });
  }
  std::size_t told() const {
    return told_->with([](const std::vector<StuckTurn>& all) { return all.size(); });
  }
  std::thread::id thread_of(std::size_t number) { return SomeCode::thread(*fates_[number]); }

  const std::shared_ptr<Barred> door_ = std::make_shared<Barred>();
  const std::shared_ptr<Barred> back_ = std::make_shared<Barred>();  ///< a stuck thread returned
  const std::shared_ptr<Quarantine> quarantine_ = std::make_shared<Quarantine>();
  const std::shared_ptr<Guarded<std::vector<StuckTurn>>> told_ =
      std::make_shared<Guarded<std::vector<StuckTurn>>>();
  const std::shared_ptr<Guarded<std::string>> lines_ = std::make_shared<Guarded<std::string>>();
  std::vector<std::shared_ptr<Fate>> fates_;
  std::shared_ptr<StopDeadline> deadline_;
};

TEST_F(TurnRunnerTest, RunsOnTheCallingThreadWithoutALimit) {
  TurnRunner runner(parts());
  const TurnRunner::Ran ran = runner.run({piece(0s), piece(0s)});
  EXPECT_EQ(ran.through, 2U);
  EXPECT_FALSE(ran.stuck);
  EXPECT_EQ(thread_of(0), std::this_thread::get_id());
  EXPECT_EQ(thread_of(1), std::this_thread::get_id());
}

TEST_F(TurnRunnerTest, RunsBesideWithoutALimitWhenItMayHaveToLeave) {
  TurnRunner runner(stoppable());
  EXPECT_EQ(runner.run({piece(0s)}).through, 1U);
  EXPECT_NE(thread_of(0), std::this_thread::get_id());
}

TEST_F(TurnRunnerTest, LeavesWhatStillRunsAtTheDeadlineWhateverItsLimit) {
  for (const Duration limit : {Duration(0s), Duration(1h)}) {
    TurnRunner runner(stoppable());
    // Set when its thread runs, which may need some time to start.
    auto begin = steady_now();
    const auto first = piece(limit, [&] {
      begin = steady_now();
      deadline_->set(begin + 300ms);
    });
    const auto last = piece(limit);
    const TurnRunner::Ran ran = runner.run({first, piece(limit, blocks()), last});
    EXPECT_GE(steady_now() - begin, 300ms) << "not before";
    EXPECT_EQ(ran.through, 2U);
    ASSERT_TRUE(ran.stuck);
    EXPECT_TRUE(ran.at_deadline);
    EXPECT_TRUE(runner.hurried());
    EXPECT_EQ(runner.run({last}).through, 0U) << "nothing more is begun";
  }
  EXPECT_EQ(told(), 2U);
  EXPECT_TRUE(logged("a turn has not returned when its worker stopped"));
  EXPECT_TRUE(logged("libc.so")) << "its stack";
}

TEST_F(TurnRunnerTest, BeginsNothingMoreInAHurry) {
  for (const Duration limit : {Duration(0s), Duration(10s)}) {
    TurnRunner runner(parts());
    const auto last = piece(limit);
    const TurnRunner::Ran ran = runner.run({piece(limit, [&] { runner.hurry(); }), last});
    EXPECT_EQ(ran.through, 1U);
    EXPECT_FALSE(ran.stuck);
    EXPECT_EQ(fates_[fates_.size() - 2]->ran, 0);
  }
}

TEST_F(TurnRunnerTest, RunsAllBatchesInOrderOnOneOtherThread) {
  TurnRunner runner(parts());
  auto order = std::make_shared<Guarded<std::string>>();
  const auto writes = [&](char letter) {
    return [order, letter] { order->with([&](std::string& all) { all += letter; }); };
  };
  EXPECT_EQ(runner.run({piece(10s, writes('a')), piece(0s, writes('b'))}).through, 2U);
  EXPECT_EQ(runner.run({piece(10s, writes('c'))}).through, 1U);
  EXPECT_EQ(order->with([](const std::string& all) { return all; }), "abc");
  EXPECT_NE(thread_of(0), std::this_thread::get_id());
  EXPECT_EQ(thread_of(1), thread_of(0));
  EXPECT_EQ(thread_of(2), thread_of(0));
  EXPECT_EQ(told(), 0U);
}

TEST_F(TurnRunnerTest, AbandonsWhatBlocksAndGoesOnWithANewThread) {
  TurnRunner runner(parts());
  const auto first = piece(50ms);
  const auto last = piece(50ms);
  const auto begin = steady_now();
  TurnRunner::Ran ran = runner.run({first, piece(50ms, blocks()), last});
  EXPECT_GE(steady_now() - begin, 50ms);
  EXPECT_EQ(ran.through, 2U);
  ASSERT_TRUE(ran.stuck);
  EXPECT_NE(ran.stuck->find("50 ms"), std::string::npos) << *ran.stuck;
  EXPECT_NE(ran.stuck->find("blocked"), std::string::npos) << *ran.stuck;
  EXPECT_EQ(fates_[0]->ran, 1);
  EXPECT_EQ(fates_[1]->ran, 0) << "it is not begun";
  EXPECT_TRUE(quarantine_->holds(InstanceKey{3}));
  EXPECT_FALSE(quarantine_->holds(InstanceKey{1}));
  EXPECT_TRUE(logged("a turn does not return"));
  EXPECT_TRUE(logged("instance=i3 orchestration=stroll"));
  EXPECT_TRUE(logged("stack="));
  ASSERT_EQ(told(), 1U);

  ran = runner.run({last});
  EXPECT_EQ(ran.through, 1U);
  EXPECT_FALSE(ran.stuck);
  EXPECT_EQ(fates_[1]->ran, 1);
  EXPECT_NE(thread_of(1), thread_of(0));
  EXPECT_EQ(fates_[2]->discarded, 0) << "its frames stay while its code runs";

  door_->open();
  ASSERT_TRUE(back_->wait());
  EXPECT_EQ(fates_[2]->discarded, 1);
  EXPECT_EQ(quarantine_->size(), 0U);
  EXPECT_TRUE(logged("has returned"));
}

TEST_F(TurnRunnerTest, SaysThatCodeIsBusy) {
  TurnRunner runner(parts());
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const TurnRunner::Ran ran = runner.run({piece(50ms, [stop] {
    while (!*stop) {
    }
  })});
  *stop = true;
  ASSERT_TRUE(ran.stuck);
  EXPECT_NE(ran.stuck->find("busy"), std::string::npos) << *ran.stuck;
  ASSERT_TRUE(back_->wait());
}

TEST_F(TurnRunnerTest, LetsCodeWithoutALimitTakeItsTimeBesideOthers) {
  TurnRunner runner(parts());
  const TurnRunner::Ran ran =
      runner.run({piece(5ms), piece(0s, [door = door_] { door->wait(100ms); }), piece(5ms)});
  EXPECT_EQ(ran.through, 3U);
  EXPECT_FALSE(ran.stuck);
}

TEST_F(TurnRunnerTest, GivesEachPieceItsWholeTime) {
  TurnRunner runner(parts());
  CodeBatch::Pieces pieces;
  const auto wait_a_little = [door = door_] { door->wait(20ms); };
  for (int i = 0; i < 12; ++i) pieces.push_back(piece(200ms, wait_a_little));
  EXPECT_EQ(runner.run(std::move(pieces)).through, 12U);
  EXPECT_EQ(told(), 0U);
}

TEST_F(TurnRunnerTest, ThrowsWhatCameOutOfAPieceBehindTheOthers) {
  for (const Duration limit : {Duration(0s), Duration(10s)}) {
    TurnRunner runner(parts());
    const auto last = piece(limit);
    EXPECT_THROW(runner.run({piece(limit, [] { throw std::length_error("too long"); }), last}),
                 std::length_error);
    EXPECT_EQ(fates_[fates_.size() - 2]->ran, 1);
    EXPECT_EQ(runner.run({piece(limit)}).through, 1U) << "it goes on";
  }
}

TEST_F(TurnRunnerTest, DropsWhatAnAbandonedPieceThrows) {
  TurnRunner runner(parts());
  const TurnRunner::Ran ran = runner.run({piece(20ms, [door = door_] {
    EXPECT_TRUE(door->wait());
    throw std::length_error("too late");
  })});
  EXPECT_TRUE(ran.stuck);
  door_->open();
  ASSERT_TRUE(back_->wait());
  EXPECT_EQ(fates_[0]->discarded, 1);
}

TEST_F(TurnRunnerTest, MayGoWhileAThreadIsStuck) {
  const auto used = std::make_shared<int>(1);
  {
    TurnRunner::Parts mine = parts();
    mine.used = used;
    TurnRunner runner(std::move(mine));
    EXPECT_TRUE(runner.run({piece(20ms, blocks())}).stuck);
  }
  EXPECT_EQ(used.use_count(), 2) << "what the code refers to lives as long as the code";
  EXPECT_EQ(quarantine_->size(), 1U);
  door_->open();
  ASSERT_TRUE(back_->wait());
  EXPECT_EQ(quarantine_->size(), 0U);
}

TEST_F(TurnRunnerTest, OutlivesAHookThatThrows) {
  TurnRunner::Parts mine = parts();
  mine.on_stuck = [](const StuckTurn&) -> std::function<void()> {
    throw std::length_error("no room");
  };
  TurnRunner runner(std::move(mine));
  EXPECT_TRUE(runner.run({piece(20ms, blocks())}).stuck);
  EXPECT_EQ(runner.run({piece(20ms)}).through, 1U);
}

/// A process that attaches to this one as a debugger does, until it is told to go.
class Debugger {
 public:
  Debugger() {
    if (pipe(to_.data()) != 0 || pipe(from_.data()) != 0) return;
    child_ = fork();
    if (child_ == 0) attach();
    prctl(PR_SET_PTRACER, child_, 0, 0, 0);
    tell();
    char answer = 'n';
    attached_ = read(from_[0], &answer, 1) == 1 && answer == 'y';
  }
  Debugger(const Debugger&) = delete;
  Debugger& operator=(const Debugger&) = delete;
  ~Debugger() { leave(); }

  bool attached() const { return attached_; }
  void leave() {
    if (child_ <= 0) return;
    tell();
    waitpid(child_, nullptr, 0);
    child_ = 0;
    for (const int fd : {to_[0], to_[1], from_[0], from_[1]}) close(fd);
  }

 private:
  void tell() {
    const char byte = 'g';
    EXPECT_EQ(write(to_[1], &byte, 1), 1);
  }
  [[noreturn]] void attach() {
    char byte = 0;
    if (read(to_[0], &byte, 1) != 1) _exit(1);
    const bool attached = ptrace(PTRACE_SEIZE, getppid(), nullptr, nullptr) == 0;
    const char answer = attached ? 'y' : 'n';
    if (write(from_[1], &answer, 1) != 1) _exit(1);
    _exit(read(to_[0], &byte, 1) == 1 ? 0 : 1);  // its end lets go
  }

  std::array<int, 2> to_{};
  std::array<int, 2> from_{};
  pid_t child_ = 0;
  bool attached_ = false;
};

TEST_F(TurnRunnerTest, AbandonsNothingUnderADebugger) {
  Debugger debugger;
  if (!debugger.attached()) GTEST_SKIP() << "this system lets no process attach to another";
  TurnRunner runner(parts());
  EXPECT_FALSE(runner.run({piece(10ms, [door = door_] { door->wait(200ms); })}).stuck);
  debugger.leave();
  EXPECT_TRUE(runner.run({piece(10ms, blocks())}).stuck);
}

TEST(CodeBatch, EndsOrIsAbandonedOnce) {
  const auto fate = std::make_shared<Fate>();
  CodeBatch batch({}, {std::make_shared<SomeCode>(CodeOwner{}, nullptr, fate)});
  EXPECT_EQ(batch.look().since, std::chrono::steady_clock::time_point());
  EXPECT_TRUE(batch.run());
  EXPECT_EQ(batch.look().index, 1U);
  EXPECT_FALSE(batch.abandon(0)) << "it has ended";

  CodeBatch other({}, {std::make_shared<SomeCode>(CodeOwner{}, nullptr, fate)});
  EXPECT_TRUE(other.abandon(0));
  EXPECT_FALSE(other.abandon(0));
  EXPECT_FALSE(other.run());
  EXPECT_EQ(fate->discarded, 1);
}

TEST(CodeBatch, OfAHurryIsOverAndNothingOfItIsAbandoned) {
  const auto fate = std::make_shared<Fate>();
  const auto hurry = std::make_shared<std::atomic<bool>>(false);
  const auto make = [&] {
    const auto hurries = [hurry] { *hurry = true; };
    return std::make_unique<CodeBatch>(
        nullptr,
        CodeBatch::Pieces{std::make_shared<SomeCode>(CodeOwner{}, hurries, fate),
                          std::make_shared<SomeCode>(CodeOwner{}, nullptr, fate)},
        hurry);
  };
  const auto batch = make();
  EXPECT_TRUE(batch->run());
  EXPECT_EQ(batch->look().index, 1U);
  EXPECT_FALSE(batch->abandon(1)) << "it will not begin";
  EXPECT_EQ(fate->ran, 1);

  const auto abandoned = make();
  EXPECT_TRUE(abandoned->abandon(0)) << "before the hurry was seen";
  EXPECT_FALSE(abandoned->run());
  EXPECT_EQ(fate->ran, 1);
}

TEST(Quarantine, IsLeftWhenAllHaveReturned) {
  Quarantine quarantine;
  quarantine.enter(InstanceKey{1});
  quarantine.enter(InstanceKey{1});
  quarantine.leave(InstanceKey{1});
  EXPECT_TRUE(quarantine.holds(InstanceKey{1}));
  quarantine.leave(InstanceKey{1});
  quarantine.leave(InstanceKey{1});
  EXPECT_EQ(quarantine.size(), 0U);
}

}  // namespace

}  // namespace perdure::runtime
