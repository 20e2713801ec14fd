#include "cli/setting_text.h"

#include <map>

#include <gtest/gtest.h>

namespace perdure::cli {
namespace {

const std::map<std::string, SettingText>& setting_texts() {
  static const std::map<std::string, SettingText> kTexts = [] {
    std::map<std::string, SettingText> texts;
    for (const runtime::Setting& each : runtime::settings()) {
      const SettingText text = text_of(each);
      texts.emplace(text.name, text);
    }
    return texts;
  }();
  return kTexts;
}

TEST(SettingText, ShowsDefaultsWithTheirUnits) {
  EXPECT_EQ(setting_texts().at("worker_lock_timeout").standard, "30 s");
  EXPECT_EQ(setting_texts().at("zombie_give_up_after").standard, "1 h");
  EXPECT_EQ(setting_texts().at("max_cache_bytes").standard, "256 MiB");
  EXPECT_EQ(setting_texts().at("max_cached_orchestrations").standard, "10,000");
  EXPECT_EQ(setting_texts().at("replay_check_fraction").standard, "0.001");
  EXPECT_EQ(setting_texts().at("strict_arguments").standard, "false");
  EXPECT_EQ(setting_texts().at("workers").standard, "empty");
  EXPECT_EQ(setting_texts().at("workers[].queue").standard, "default");
}

TEST(SettingText, ShowsRangesAndWhatTheyDependOn) {
  EXPECT_EQ(setting_texts().at("worker_lock_timeout").range, "100 ms to 365 d");
  EXPECT_EQ(setting_texts().at("max_zombie_count").range, "0 to 100,000");
  EXPECT_EQ(setting_texts().at("workers[].max_concurrent_activities").range, "1 to 100,000");
  EXPECT_EQ(setting_texts().at("max_payload_bytes").range, "1 B or more");
  EXPECT_EQ(setting_texts().at("worker_dead_after").range,
            "2 x process_heartbeat_interval to 365 d");
  EXPECT_EQ(setting_texts().at("zombie_retry_interval").range, "1 ms to zombie_retry_max_delay");
}

TEST(SettingText, TellsWhatZeroMeans) {
  EXPECT_TRUE(setting_texts().at("orchestration_deadlock_timeout").meaning.ends_with("; 0: off"));
  EXPECT_EQ(setting_texts().at("worker_lock_timeout").meaning.find("0:"), std::string::npos);
}

TEST(SettingText, HasAUniqueNameAndFitsACellOfATable) {
  EXPECT_EQ(setting_texts().size(), runtime::settings().size());
  for (const auto& [name, text] : setting_texts()) {
    for (const std::string& cell : {text.name, text.standard, text.range, text.meaning}) {
      EXPECT_FALSE(cell.empty()) << name;
      EXPECT_EQ(cell.find_first_of("|\n"), std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace perdure::cli
