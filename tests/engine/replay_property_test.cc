#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/engine/random_life.h"

/// Random orchestrations in a random world: frames that were kept and frames from history decide
/// the same, at every point.
///
/// A seed that fails is printed. It is played alone by
///   perdure_engine_tests --gtest_also_run_disabled_tests --gtest_filter=*OneSeed
///                        --gtest_random_seed=<seed>
namespace perdure::test::replay_property_test {
namespace {

constexpr int kShards = 20;
constexpr int kSeedsOfAShard = 500;
constexpr std::size_t kPrefixes = 6;  // of one life, when it has more turns

std::string describe(const PlayedLife& life) {
  std::string text;
  for (const HistoryEvent& event : life.history) text += to_line(event) + "\n";
  return text;
}

/// What differs when the turns from `first` on are played on frames from history; empty: nothing.
std::string replay_from(const PlayedLife& life, std::size_t first, std::size_t last) {
  RewindableRandom random;
  const auto execution = fresh(life, random);
  const auto begin = life.history.begin();
  const auto before = static_cast<std::ptrdiff_t>(life.turns[first].events_before);
  execution->replay({begin, begin + before}, first > 0);
  if (execution->mismatch()) return "replay: " + to_string(*execution->mismatch());
  for (std::size_t i = first; i < last; ++i) {
    const PlayedTurn& turn = life.turns[i];
    const std::string where = "turn " + std::to_string(i) + ": ";
    const replay::TurnResult result = play_again(*execution, random, turn);
    if (result.mismatch) return where + to_string(*result.mismatch);
    if (const auto found = difference(turn.decisions, result.decisions)) return where + *found;
    const bool same_log = std::equal(turn.log.begin(),
                                     turn.log.end(),
                                     result.log.begin(),
                                     result.log.end(),
                                     [](const auto& a, const auto& b) { return a.text == b.text; });
    if (!same_log) return where + "other log lines";
  }
  return "";
}

/// How early a turn takes a message.
int rank_of(const Message& message) {
  switch (message.kind) {
    case MessageKind::kCancel:
      return 0;
    case MessageKind::kSignal:
    case MessageKind::kUpdate:
      return 1;
    case MessageKind::kQuery:
      return 3;
    default:
      return 2;
  }
}

/// What differs when the messages of one turn are given one by one. Those that it takes before main
/// goes on stay together.
std::string replay_split(const PlayedLife& life, std::size_t at) {
  const PlayedTurn& whole = life.turns[at];
  RewindableRandom random;
  const auto execution = fresh(life, random);
  const auto begin = life.history.begin();
  execution->replay({begin, begin + static_cast<std::ptrdiff_t>(whole.events_before)}, at > 0);
  std::vector<Message> messages = whole.messages;
  std::stable_sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
    return rank_of(a) < rank_of(b);
  });
  PlayedTurn part = whole;
  std::vector<HistoryEvent> events;
  for (auto next = messages.begin(); next != messages.end();) {
    const bool first = next == messages.begin();
    auto behind = std::next(next);
    const auto together = [&](const Message& message) {
      if (first && at == 0) return rank_of(message) < 2;
      return rank_of(*next) == 1 && rank_of(message) == 1;
    };
    while (behind != messages.end() && together(*behind)) ++behind;
    part.messages.assign(next, behind);
    next = behind;
    replay::TurnResult result =
        first ? play_again(*execution, random, part) : execution->turn(part.messages, part.now);
    if (result.mismatch) return "split: " + to_string(*result.mismatch);
    auto& made = result.decisions.events;
    std::move(made.begin(), made.end(), std::back_inserter(events));
  }
  return events == whole.decisions.events ? "" : "split: other events than together";
}

/// What is wrong with a seed; empty: nothing.
std::string check_seed(std::uint64_t seed) {
  const PlayedRun run = play(seed);
  if (!run.broken.empty()) return run.broken + "\n" + describe(run.lives.back());
  Dice dice(seed);
  for (const PlayedLife& life : run.lives) {
    const std::size_t turns = life.turns.size();
    const std::size_t step = turns / kPrefixes + 1;
    const std::size_t rest = static_cast<std::size_t>(dice.pick(static_cast<int>(turns)));
    for (std::size_t i = static_cast<std::size_t>(dice.pick(static_cast<int>(step))); i < turns;
         i += step) {
      std::string found = replay_from(life, i, i + 1);
      if (found.empty() && life.turns[i].messages.size() > 1) found = replay_split(life, i);
      if (!found.empty()) return found + "\n" + describe(life);
    }
    const std::string found = replay_from(life, rest, turns);
    if (!found.empty())
      return "from turn " + std::to_string(rest) + ", " + found + "\n" + describe(life);
    RewindableRandom random;
    const auto ended = fresh(life, random);
    ended->replay(life.history, true);
    if (ended->mismatch()) return "whole: " + to_string(*ended->mismatch()) + "\n" + describe(life);
    if (!ended->has_ended()) return "a whole history does not end\n" + describe(life);
  }
  return "";
}

class ReplayProperty : public testing::TestWithParam<int> {};

TEST_P(ReplayProperty, GivesTheSameCommandsFromAnyPrefix) {
  for (int i = 0; i < kSeedsOfAShard; ++i) {
    const std::uint64_t seed = static_cast<std::uint64_t>(GetParam() * kSeedsOfAShard + i + 1);
    const std::string found = check_seed(seed);
    ASSERT_EQ(found, "") << "seed " << seed;
  }
}

/// Seeds prove something only about what they reach.
TEST(ReplayPropertyReach, EveryKindOfEventAndEveryEnd) {
  std::set<EventKind> seen;
  std::size_t turns = 0;
  std::size_t events = 0;
  for (std::uint64_t seed = 1; seed <= kSeedsOfAShard; ++seed) {
    for (const PlayedLife& life : play(seed).lives) {
      turns += life.turns.size();
      events += life.history.size();
      for (const HistoryEvent& event : life.history) seen.insert(event.kind);
    }
  }
  std::set<EventKind> all;
  for (const auto& row : CodeTable<EventKind>::rows()) all.insert(row.value);
  all.erase(EventKind::kTerminated);  // written by a client
  EXPECT_EQ(seen, all);
  RecordProperty("turns", std::to_string(turns));
  RecordProperty("events", std::to_string(events));
}

TEST(ReplayPropertyAlone, DISABLED_OneSeed) {
  const auto seed = static_cast<std::uint64_t>(GTEST_FLAG_GET(random_seed));
  EXPECT_EQ(check_seed(seed), "") << "seed " << seed;
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReplayProperty, testing::Range(0, kShards));

}  // namespace
}  // namespace perdure::test::replay_property_test
