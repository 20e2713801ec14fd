#include "cli/bench/cancel_board.h"

#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/clock.h"

namespace perdure::bench::cancel_board_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kHanging = 60s;

TEST(CancelBoard, KnowsWhoHasBegunAndWhenItWoke) {
  const auto board = CancelBoard::make(3).value();
  EXPECT_FALSE(board->wait_for_begun(1, 0s));
  board->note_begin(2);
  board->note_begin(2);  // its second attempt
  board->note_begin(0);
  EXPECT_TRUE(board->wait_for_begun(2, 0s));
  EXPECT_EQ(board->begun(), 2);
  EXPECT_FALSE(board->awake_at(2));
  const auto before = steady_now();
  board->note_awake(2);
  ASSERT_TRUE(board->awake_at(2));
  const auto first = *board->awake_at(2);
  EXPECT_GE(first, before);
  EXPECT_LE(first, steady_now());
  board->note_awake(2);
  EXPECT_EQ(board->awake_at(2), first);
  EXPECT_TRUE(board->wait_for_awake(1, 0s));
  EXPECT_FALSE(board->wait_for_awake(2, 1ms));
}

TEST(CancelBoard, IsSharedWithWhoHasItsDescriptor) {
  const auto board = CancelBoard::make(2).value();
  const auto other = CancelBoard::attach(::dup(board->descriptor()), 2).value();
  std::thread elsewhere([&] {
    other->note_begin(1);
    other->note_awake(1);
  });
  EXPECT_TRUE(board->wait_for_awake(1, kHanging));
  EXPECT_EQ(board->begun(), 1);
  EXPECT_EQ(board->awake_at(1), other->awake_at(1));
  elsewhere.join();
}

TEST(CancelBoard, IsRefusedForADescriptorThatIsNone) {
  EXPECT_EQ(CancelBoard::attach(-1, 1).code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace perdure::bench::cancel_board_test
