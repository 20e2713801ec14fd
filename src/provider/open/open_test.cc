#include "provider/open/open.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace perdure {

namespace {

TEST(OpenProvider, NamesAnUnknownSchemeAndTheKnownOnes) {
  const auto answer = open_provider("oracle://db/orders");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(answer.error().message.find("oracle://db/orders"), std::string::npos);
  EXPECT_NE(answer.error().message.find("sqlite:PATH"), std::string::npos);
}

TEST(OpenProvider, TakesAPathWithoutASchemeForAMistake) {
  support::TempDir dir;
  EXPECT_FALSE(open_provider(dir.file("store.db")).ok());
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(OpenProvider, OpensAFileAndAStoreInMemory) {
  support::TempDir dir;
  EXPECT_TRUE(open_provider("sqlite:" + dir.file("store.db")).ok());
  EXPECT_TRUE(std::filesystem::exists(dir.file("store.db")));
  EXPECT_TRUE(open_provider("sqlite::memory:").ok());
}

TEST(OpenProvider, TakesTheDurabilityAndRefusesOtherParameters) {
  support::TempDir dir;
  EXPECT_TRUE(open_provider("sqlite:" + dir.file("a.db") + "?durability=relaxed").ok());
  const auto typo = open_provider("sqlite:" + dir.file("b.db") + "?durabilty=full");
  ASSERT_FALSE(typo.ok());
  EXPECT_NE(typo.error().message.find("durabilty=full"), std::string::npos);
  const auto value = open_provider("sqlite:" + dir.file("b.db") + "?durability=some");
  ASSERT_FALSE(value.ok());
  EXPECT_NE(value.error().message.find("some"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(dir.file("b.db")));
}

TEST(OpenProviderForReading, ReadsAndCannotWrite) {
  support::TempDir dir;
  const std::string url = "sqlite:" + dir.file("store.db");
  const StartOrchestration start{.id = "a", .name = "checkout", .input = "1"};
  ASSERT_TRUE(open_provider(url).value()->start_orchestration(start).ok());
  const auto store = open_provider_for_reading(url).value();
  EXPECT_EQ(store->get_instance("a").value().name, "checkout");
  EXPECT_FALSE(store->start_orchestration({.id = "b", .name = "checkout", .input = "1"}).ok());
  EXPECT_EQ(store->get_instance("b").code(), ErrorCode::kNotFound);
}

TEST(OpenProviderForReading, MakesNothing) {
  support::TempDir dir;
  const auto missing = open_provider_for_reading("sqlite:" + dir.file("store.db"));
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("store.db"), std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
  EXPECT_FALSE(open_provider_for_reading("sqlite::memory:").ok());
}

TEST(OpenProvider, PassesOnTheErrorOfTheStore) {
  support::TempDir dir;
  const auto answer = open_provider("sqlite:" + dir.file("missing/store.db"));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.code(), ErrorCode::kInvalidArgument);
}

}  // namespace

}  // namespace perdure
