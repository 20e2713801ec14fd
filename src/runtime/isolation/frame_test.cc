#include "runtime/isolation/frame.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace perdure::runtime {

namespace {

TEST(Frames, ComeBackWholeFromPiecesOfAnySize) {
  const Frame first{FrameKind::kHeartbeat, std::string("a\0b", 3)};
  const Frame second{FrameKind::kResult, std::string(1'000, 'x')};
  const std::string bytes = to_bytes(first) + to_bytes({FrameKind::kHello, ""}) + to_bytes(second);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    FrameReader reader(1'000);
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.add(std::string_view(bytes).substr(at, piece));
      while (auto frame = reader.next()) frames.push_back(std::move(*frame));
    }
    EXPECT_EQ(frames, (std::vector<Frame>{first, {FrameKind::kHello, ""}, second})) << piece;
  }
}

TEST(Frames, ThatAreNotCompleteAreNone) {
  const std::string bytes = to_bytes({FrameKind::kResult, "result"});
  FrameReader reader(100);
  reader.add(std::string_view(bytes).substr(0, bytes.size() - 1));
  EXPECT_FALSE(reader.next().has_value());
}

TEST(Frames, BeyondTheLimitAreRefusedBeforeTheyHaveCome) {
  const std::string bytes = to_bytes({FrameKind::kResult, std::string(101, 'x')});
  FrameReader reader(100);
  reader.add(std::string_view(bytes).substr(0, 9));
  EXPECT_THROW(reader.next(), BadFrame);
}

TEST(Frames, OfAnUnknownKindAreRefused) {
  for (const char kind : {'\0', '\x08', '\xff'}) {
    std::string bytes = to_bytes({FrameKind::kHello, ""});
    bytes.back() = kind;
    FrameReader reader(100);
    reader.add(bytes);
    EXPECT_THROW(reader.next(), BadFrame);
  }
}

}  // namespace

}  // namespace perdure::runtime
