#include "base/log.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace perdure {
namespace {

class Log : public testing::Test {
 protected:
  Log() {
    log::set_sink(
        [this](log::Level level, std::string_view line) { lines_.emplace_back(level, line); });
  }
  ~Log() override {
    log::set_sink({});
    log::set_level(log::Level::kInfo);
  }

  std::string last() const { return lines_.empty() ? "nothing" : lines_.back().second; }

  // Unguarded: calls of the sink never overlap.
  std::vector<std::pair<log::Level, std::string>> lines_;
};

TEST_F(Log, WritesTheMessageAndItsFields) {
  const std::string id = "order-7";
  log::info("run started", {{"run", id}, {"step", 3}, {"retry", true}, {"queue", "default"}});
  EXPECT_EQ(last(), "run started run=order-7 step=3 retry=true queue=default");
}

TEST_F(Log, WritesNumbersOfEverySize) {
  log::info("n", {{"a", INT64_MIN}, {"b", UINT64_MAX}, {"c", std::int8_t{-1}}, {"d", false}});
  EXPECT_EQ(last(), "n a=-9223372036854775808 b=18446744073709551615 c=-1 d=false");
}

TEST_F(Log, QuotesValuesThatWouldBeAmbiguous) {
  log::info("m", {{"a", "with spaces"}, {"b", ""}, {"c", "x=y"}, {"d", R"(say "hi" \o)"}});
  EXPECT_EQ(last(), R"(m a="with spaces" b="" c="x=y" d="say \"hi\" \\o")");
}

TEST_F(Log, KeepsAnEventOnOneLine) {
  log::info("first\nsecond", {{"v", std::string("a\r\n\tb\x01\x7f")}});
  EXPECT_EQ(last(), R"(first\nsecond v="a\r\n\tb\x01\x7f")");
}

TEST_F(Log, KeepsTextThatIsNotAscii) {
  log::info("größe", {{"stadt", "münchen"}});
  EXPECT_EQ(last(), "größe stadt=münchen");
}

TEST_F(Log, DropsEventsBelowTheLevel) {
  log::debug("unseen");
  EXPECT_TRUE(lines_.empty());
  log::set_level(log::Level::kTrace);
  log::trace("a");
  log::debug("b");
  log::info("c");
  log::warning("d");
  log::error("e");
  ASSERT_EQ(lines_.size(), 5U);
  EXPECT_EQ(lines_.front().first, log::Level::kTrace);
  EXPECT_EQ(lines_.back().first, log::Level::kError);
  log::set_level(log::Level::kOff);
  log::error("unseen");
  log::write(log::Level::kOff, "unseen");
  EXPECT_EQ(lines_.size(), 5U);
  EXPECT_FALSE(log::enabled(log::Level::kError));
}

TEST_F(Log, ReadsEachLevelBackFromItsName) {
  for (const auto level : {log::Level::kTrace,
                           log::Level::kDebug,
                           log::Level::kInfo,
                           log::Level::kWarning,
                           log::Level::kError,
                           log::Level::kOff}) {
    EXPECT_EQ(log::parse_level(log::to_string(level)), level);
  }
  EXPECT_EQ(log::parse_level("loud"), std::nullopt);
}

TEST_F(Log, DropsWhatTheSinkLogsItself) {
  int calls = 0;
  log::set_sink([&](log::Level, std::string_view) {
    ++calls;
    log::error("from the sink");
  });
  log::info("once");
  log::info("twice");
  EXPECT_EQ(calls, 2);
}

TEST_F(Log, SurvivesASinkThatThrows) {
  int calls = 0;
  log::set_sink([&](log::Level, std::string_view) {
    ++calls;
    throw std::runtime_error("disk full");
  });
  log::info("once");
  log::info("twice");
  EXPECT_EQ(calls, 2);
}

TEST_F(Log, TakesEventsFromSeveralThreads) {
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 200; ++i) log::info("event", {{"i", i}});
      });
    }
  }
  EXPECT_EQ(lines_.size(), 600U);
}

TEST_F(Log, GoesToStderrWithTimeAndLevelWithoutASink) {
  log::set_sink({});
  testing::internal::CaptureStderr();
  log::warning("low on space", {{"left", 5}});
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("Z warning low on space left=5\n"), std::string::npos) << text;
  EXPECT_TRUE(lines_.empty());
}

}  // namespace
}  // namespace perdure
