#include "model/ids.h"

#include <set>
#include <sstream>
#include <unordered_set>

#include <gtest/gtest.h>

namespace perdure {
namespace {

constexpr std::string_view kNul("\0", 1);

std::string message_of(const Status& refused) {
  return refused.ok() ? "" : refused.error().message;
}

TEST(CheckId, AcceptsOneTo255BytesOfUtf8) {
  EXPECT_TRUE(check_id("id", "a").ok());
  EXPECT_TRUE(check_id("id", "order/2026-01 #7").ok());
  EXPECT_TRUE(check_id("id", "Bestellung \xC3\xA4\xE2\x82\xAC\xF0\x9F\x9A\x80").ok());
  EXPECT_TRUE(check_id("id", std::string(kMaxIdBytes, 'x')).ok());
}

TEST(CheckId, RefusesTheEmptyId) {
  const Status refused = check_id("name", "");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(message_of(refused).find("empty"), std::string::npos);
}

TEST(CheckId, RefusesMoreThan255BytesAndSaysHowManyThereAre) {
  const Status refused = check_id("queue", std::string(kMaxIdBytes + 1, 'x'));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), ErrorCode::kInvalidArgument);
  EXPECT_NE(message_of(refused).find("256 bytes"), std::string::npos);
}

TEST(CheckId, CountsBytesAndNotCharacters) {
  std::string umlauts;
  for (int i = 0; i < 128; ++i) umlauts += "\xC3\xA4";
  EXPECT_FALSE(check_id("id", umlauts).ok());
  EXPECT_TRUE(check_id("id", umlauts.substr(2)).ok());
}

TEST(CheckId, RefusesNulAnywhere) {
  for (const std::string& id : {std::string(kNul),
                                std::string(kNul) + "a",
                                "a" + std::string(kNul) + "b",
                                "a" + std::string(kNul)}) {
    const Status refused = check_id("id", id);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(message_of(refused).find("contains NUL"), std::string::npos);
  }
}

TEST(CheckId, RefusesBrokenUtf8) {
  for (const std::string_view id :
       {"\xFF", "a\x80", "\xC0\xAF", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "caf\xE9"}) {
    const Status refused = check_id("id", id);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(message_of(refused).find("not valid UTF-8"), std::string::npos);
  }
}

TEST(CheckId, NamesTheField) {
  const std::string longest(kMaxIdBytes + 1, 'x');
  for (const std::string_view id :
       {std::string_view(), std::string_view(longest), kNul, std::string_view("\xFF")}) {
    EXPECT_TRUE(message_of(check_id("request_id", id)).starts_with("request_id "));
  }
}

TEST(CheckId, DoesNotRepeatABadIdInItsMessage) {
  EXPECT_EQ(message_of(check_id("id", "\xFF")).find('\xFF'), std::string::npos);
}

TEST(LockToken, IsEqualOnlyWithTheSameEpochAndSerial) {
  const LockToken token{Epoch{3}, 7};
  EXPECT_EQ(token, (LockToken{Epoch{3}, 7}));
  EXPECT_NE(token, (LockToken{Epoch{4}, 7}));
  EXPECT_NE(token, (LockToken{Epoch{3}, 8}));
}

TEST(LockToken, IsOrderedByEpochThenSerial) {
  EXPECT_LT((LockToken{Epoch{1}, 9}), (LockToken{Epoch{2}, 1}));
  EXPECT_LT((LockToken{Epoch{2}, 1}), (LockToken{Epoch{2}, 2}));
}

TEST(LockToken, PrintsEpochAndSerial) {
  const LockToken token{Epoch{3}, 71};
  std::ostringstream printed;
  printed << token;
  EXPECT_EQ(printed.str(), "3:71");
  EXPECT_EQ(to_string(token), "3:71");
}

TEST(LockToken, HashesNeighboursApart) {
  std::set<std::size_t> hashes;
  std::unordered_set<LockToken> tokens;
  for (std::int64_t epoch = 1; epoch <= 30; ++epoch) {
    for (std::int64_t serial = 1; serial <= 100; ++serial) {
      const LockToken token{Epoch{epoch}, serial};
      hashes.insert(std::hash<LockToken>{}(token));
      EXPECT_TRUE(tokens.insert(token).second);
      EXPECT_FALSE(tokens.insert(token).second);
    }
  }
  EXPECT_EQ(hashes.size(), 3'000U);
}

}  // namespace
}  // namespace perdure
