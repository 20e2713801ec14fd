#include "provider/sqlite/writer_test.h"

#include <thread>

namespace perdure::sqlite {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WriterTest : public WriterFixture {};

TEST_F(WriterTest, CommitsAllWaitingJobsTogether) {
  start(false);
  failpoint::set_counting(true);
  const auto one = submit({insert(1)});
  const auto two = submit({insert(2), insert(3)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(failpoint::hits("sqlite.commit.before"), 1);
  EXPECT_EQ(one->text(), "ok");
  EXPECT_EQ(two->text(), "ok ok");
  EXPECT_EQ(stored(), (Values{1, 2, 3}));
  EXPECT_FALSE(writer_->poll_once());
}

TEST_F(WriterTest, AnswersAJobWithoutEntries) {
  start(false);
  const auto nothing = submit({});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_TRUE(nothing->arrived());
}

TEST_F(WriterTest, AGroupHasALimitAndNoJobIsSplit) {
  start(false, 4);
  const auto one = submit({insert(1), insert(2), insert(3)});
  const auto two = submit({insert(4), insert(5)});
  const auto three = submit({insert(6), insert(7), insert(8), insert(9), insert(10)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(stored(), (Values{1, 2, 3}));
  EXPECT_FALSE(two->arrived());
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(two->text(), "ok ok");
  EXPECT_FALSE(three->arrived());
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(three->text(), "ok ok ok ok ok");
  EXPECT_FALSE(writer_->poll_once());
}

TEST_F(WriterTest, UrgentJobsOvertakeTheOthers) {
  start(false, 1);
  submit({insert(1)});
  submit({insert(2)});
  submit({insert(3)}, {.urgent = true});
  submit({insert(4)}, {.urgent = true});
  std::vector<Values> states;
  while (writer_->poll_once()) states.push_back(stored());
  EXPECT_EQ(states, (std::vector<Values>{{3}, {3, 4}, {1, 3, 4}, {1, 2, 3, 4}}));
}

TEST_F(WriterTest, OneBadEntryFailsAloneAndItsNeighboursAreWritten) {
  start(false);
  other_->exec("INSERT INTO t VALUES (2)");
  const auto one = submit({insert(1)});
  const auto two = submit({insert(2), insert(3)});
  const auto three = submit({insert(4)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(one->text(), "ok");
  EXPECT_EQ(two->text(), "Corrupt ok");
  EXPECT_EQ(three->text(), "ok");
  EXPECT_EQ(stored(), (Values{1, 2, 3, 4}));
}

TEST_F(WriterTest, AnEntryThatEndsTheWholeTransactionHarmsNoNeighbour) {
  start(false);
  other_->exec("INSERT INTO t VALUES (2)");
  const auto one = submit({insert(1)});
  const auto two = submit(
      {[](WriteContext& context) { context.db.exec("INSERT OR ROLLBACK INTO t VALUES (2)"); }});
  const auto three = submit({insert(3)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(one->text(), "ok");
  EXPECT_EQ(two->text(), "Corrupt");
  EXPECT_EQ(three->text(), "ok");
  EXPECT_EQ(stored(), (Values{1, 2, 3}));
}

TEST_F(WriterTest, AFullStoreRefusesTheEntryThatDoesNotFit) {
  start(false);
  const auto fill = [](WriteContext& context) {
    context.db.exec("PRAGMA max_page_count = 1");
    context.db.exec("CREATE TABLE big (x); INSERT INTO big VALUES (zeroblob(1000000))");
  };
  const auto one = submit({insert(1)});
  const auto two = submit({fill});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(one->text(), "ok");
  EXPECT_EQ(two->text(), "Unavailable");
  EXPECT_EQ(stored(), (Values{1}));
}

/// Time that a test may set back.
class LooseClock final : public Clock {
 public:
  TimePoint now() const override { return time_from_micros(micros); }
  std::optional<Duration> sleep_until(TimePoint) const override { return std::nullopt; }
  Subscription on_advance(std::function<void()>) override { return {}; }

  std::int64_t micros = 100;
};

TEST_F(WriterTest, ReadsTheTimeOncePerGroupAndNeverLetsItRunBackwards) {
  LooseClock clock;
  Writer writer(open(), clock, hub_, {.thread = false});
  std::vector<std::int64_t> seen;
  const auto submit_look = [&] {
    writer.submit(std::make_unique<TestJob>(std::vector<Entry>{[&](WriteContext& context) {
                                              seen.push_back(to_micros(context.now));
                                              ++clock.micros;
                                            }},
                                            [](const Outcome::Answers&) {}));
  };
  submit_look();
  submit_look();
  EXPECT_TRUE(writer.poll_once());
  clock.micros = 50;
  submit_look();
  EXPECT_TRUE(writer.poll_once());
  clock.micros = 200;
  submit_look();
  EXPECT_TRUE(writer.poll_once());
  EXPECT_EQ(seen, (std::vector<std::int64_t>{100, 100, 100, 200}));
}

TEST_F(WriterTest, PublishesWhatWasCommittedBeforeItAnswers) {
  start(false);
  const ChangeMark mark = hub_.mark(0);
  const auto woken = [&](InstanceKey key) {
    const Interest interest{.after = mark, .run = key, .bound = milliseconds(0)};
    return hub_.wait(interest, {}).reason == Wake::Reason::kChanged;
  };
  const auto touch = [](std::int64_t x, InstanceKey key) {
    return [x, key](WriteContext& context) {
      context.topics.run(key);
      insert(x)(context);
    };
  };
  bool at_answer = false;
  writer_->submit(std::make_unique<TestJob>(
      std::vector<Entry>{touch(1, InstanceKey{1})},
      [&](const Outcome::Answers&) { at_answer = woken(InstanceKey{1}); }));
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_TRUE(at_answer);

  const auto bad = submit({touch(1, InstanceKey{2}), touch(2, InstanceKey{3})});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(bad->text(), "Corrupt ok");
  EXPECT_FALSE(woken(InstanceKey{2})) << "published what was rolled back";
  EXPECT_TRUE(woken(InstanceKey{3}));
}

TEST_F(WriterTest, CompletionsMaySubmit) {
  start(false);
  std::shared_ptr<Outcome> second;
  writer_->submit(
      std::make_unique<TestJob>(std::vector<Entry>{insert(1)},
                                [&](const Outcome::Answers&) { second = submit({insert(2)}); }));
  EXPECT_TRUE(writer_->poll_once());
  ASSERT_NE(second, nullptr);
  EXPECT_FALSE(second->arrived());
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(second->text(), "ok");
}

TEST_F(WriterTest, ThreadsMayTakeTurnsToPoll) {
  start(false, 8);
  constexpr std::int64_t kThreads = 4;
  constexpr std::int64_t kJobs = 25;
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      for (std::int64_t k = 0; k < kJobs; ++k) {
        const auto outcome = submit({insert(i * kJobs + k)}, {.urgent = k % 2 == 0});
        while (!outcome->arrived() && writer_->poll_once()) {
        }
        EXPECT_EQ(outcome->text(), "ok");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stored().size(), static_cast<std::size_t>(kThreads * kJobs));
}

TEST_F(WriterTest, WithAThreadNobodyNeedsToPoll) {
  start(true);
  constexpr std::int64_t kThreads = 4;
  constexpr std::int64_t kJobs = 50;
  std::vector<std::thread> threads;
  for (std::int64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      for (std::int64_t k = 0; k < kJobs; ++k) {
        const auto outcome = submit({insert(i * kJobs + k)});
        EXPECT_FALSE(writer_->poll_once());
        static_cast<void>(writer_->foreign_version());
        EXPECT_EQ(outcome->text(), "ok");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(stored().size(), static_cast<std::size_t>(kThreads * kJobs));
}

TEST_F(WriterTest, ForeignVersionGrowsForCommitsOfOthersOnly) {
  start(false);
  const std::int64_t first = writer_->foreign_version();
  submit({insert(1)});
  EXPECT_TRUE(writer_->poll_once());
  EXPECT_EQ(writer_->foreign_version(), first);
  other_->exec("INSERT INTO t VALUES (2)");
  const std::int64_t second = writer_->foreign_version();
  EXPECT_GT(second, first);
  EXPECT_EQ(writer_->foreign_version(), second);
}

TEST_F(WriterTest, ForeignVersionIsAnsweredWhileAGroupIsWritten) {
  start(true);
  failpoint::arm("sqlite.commit.before", {.kind = failpoint::Action::Kind::kPause});
  const auto outcome = submit({insert(1)});
  ASSERT_TRUE(failpoint::wait_until_paused("sqlite.commit.before", kLong));
  EXPECT_EQ(writer_->foreign_version(), 0);
  failpoint::disarm("sqlite.commit.before");
  EXPECT_EQ(outcome->text(), "ok");
}

using WriterDeathTest = WriterTest;

TEST_F(WriterDeathTest, AbortsWhenACompletionPolls) {
  start(false);
  const auto poll_twice = [this] {
    writer_->submit(std::make_unique<TestJob>(
        std::vector<Entry>{}, [this](const Outcome::Answers&) { writer_->poll_once(); }));
    writer_->poll_once();
  };
  EXPECT_DEATH(poll_twice(), "synchronously");
}

}  // namespace
}  // namespace perdure::sqlite
