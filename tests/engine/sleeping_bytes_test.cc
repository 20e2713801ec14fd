#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <perdure/perdure.h>

#include "base/random.h"
#include "replay/execution.h"

namespace {

/// In front of each block; as large as the strictest alignment asks.
union Header {
  std::size_t taken;
  std::max_align_t align;
};

thread_local std::size_t live_bytes = 0;

/// What a usual allocator takes for a block: a word besides, in steps of sixteen.
std::size_t with_overhead(std::size_t size) {
  return (size + sizeof(void*) + 15) / 16 * 16;
}

}  // namespace

// All memory of this program is counted, by thread.
[[gnu::noinline]] void* operator new(std::size_t size) {
  auto* const header = static_cast<Header*>(std::malloc(sizeof(Header) + size));
  if (header == nullptr) throw std::bad_alloc();
  header->taken = with_overhead(size);
  live_bytes += header->taken;
  return header + 1;
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  Header* const header = static_cast<Header*>(memory) - 1;
  live_bytes -= header->taken;
  std::free(header);
}

void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

// Sanitizers have forms of their own for these, which do not come here by themselves.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory, const std::nothrow_t&) noexcept {
  operator delete(memory);
}

namespace perdure::test::sleeping_bytes_test {

namespace {

/// What one cached run that sleeps may take, frames of its code included. Without optimisation, and
/// with sanitizers, frames are larger than those that users get.
constexpr std::size_t kMostBytes = 3'000;
/// Of that, for its place in the cache.
constexpr std::size_t kPlaceBytes = 160;

inline constexpr Orchestration<void(int)> sleeper{"sleeper"};

Task<void> sleep(OrchestrationContext& ctx, int naps) {
  for (int i = 0; i < naps; ++i) co_await ctx.timer(std::chrono::seconds(1));
  co_await ctx.timer(std::chrono::hours(24));
}

/// Runs of `sleep` in memory, and their history.
class Sleepers {
 public:
  explicit Sleepers(int naps) {
    registry_.add(sleeper, &sleep);
    HistoryEvent started;
    started.id = EventId{1};
    started.name = std::string(sleeper.name());
    started.payload = std::to_string(naps);
    history_.push_back(std::move(started));
    asleep_ = made(false);
    turn({});
    for (int i = 0; i < naps; ++i) turn({fired(history_.back().id)});
  }

  const replay::Execution& after_turns() const { return *asleep_; }
  /// Made by replay; its first turn has nothing to do.
  std::unique_ptr<replay::Execution> after_replay() {
    auto asleep = made(true);
    EXPECT_FALSE(asleep->turn({}, now_).mismatch);
    return asleep;
  }
  std::size_t events() const { return history_.size(); }

 private:
  static Message fired(EventId timer) {
    Message message;
    message.kind = MessageKind::kTimerFired;
    message.execution = ExecutionNo{1};
    message.source = timer;
    return message;
  }
  std::unique_ptr<replay::Execution> made(bool had_turn) {
    const detail::OrchestrationHandler& main = *registry_.table()->orchestrations().at(0);
    auto execution = std::make_unique<replay::Execution>(
        replay::ExecutionSpec{"sleeper-1", ExecutionNo{1}, main.name, main.version, "default"},
        main,
        replay::ExecutionOptions{},
        random_);
    execution->replay(history_, had_turn);
    return execution;
  }
  void turn(std::vector<Message> messages) {
    now_ += std::chrono::seconds(1);
    replay::TurnResult result = asleep_->turn(std::move(messages), now_);
    EXPECT_FALSE(result.mismatch);
    for (HistoryEvent& event : result.decisions.events) history_.push_back(std::move(event));
  }

  Registry registry_;
  SeededRandom random_{5};
  TimePoint now_{std::chrono::hours(500'000)};
  std::vector<HistoryEvent> history_;
  std::unique_ptr<replay::Execution> asleep_;
};

/// What a run takes that was replayed and waits.
std::size_t bytes_of_replayed(Sleepers& sleepers) {
  const std::size_t before = live_bytes;
  const auto asleep = sleepers.after_replay();
  EXPECT_FALSE(asleep->has_ended());
  return live_bytes - before;
}

TEST(SleepingBytes, OfARunWithItsPlaceInTheCacheAreFew) {
  Sleepers sleepers(0);
  bytes_of_replayed(sleepers);  // what is made once and for all
  const std::size_t bytes = bytes_of_replayed(sleepers);
  RecordProperty("bytes", static_cast<int>(bytes));
  EXPECT_LE(bytes + kPlaceBytes, kMostBytes);
}

TEST(SleepingBytes, AreWhatTheRunSays) {
  Sleepers sleepers(0);
  bytes_of_replayed(sleepers);
  const auto bytes = static_cast<double>(bytes_of_replayed(sleepers));
  EXPECT_NEAR(static_cast<double>(sleepers.after_turns().bytes()), bytes, bytes / 5);
}

TEST(SleepingBytes, DoNotDependOnWhatWasReplayed) {
  Sleepers fresh(0);
  Sleepers old(500);
  ASSERT_GT(old.events(), fresh.events() + 900);
  bytes_of_replayed(fresh);
  EXPECT_EQ(bytes_of_replayed(old), bytes_of_replayed(fresh)) << "history is kept";
}

}  // namespace

}  // namespace perdure::test::sleeping_bytes_test
