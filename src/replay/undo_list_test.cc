#include "replay/undo_list.h"

#include <gtest/gtest.h>

namespace perdure::replay {
namespace {

using namespace std::chrono_literals;

HistoryEvent owed(std::int64_t call, std::string name) {
  HistoryEvent event;
  event.kind = EventKind::kUndoOwed;
  event.source = EventId{call};
  event.name = std::move(name);
  return event;
}

TEST(UndoPolicy, ComesBackFromItsText) {
  const std::string_view odd[] = {" ",
                                  "%",
                                  "%20",
                                  "two words",
                                  "\"quoted\\\"",
                                  "tab\tand\nline",
                                  "t\xc3\xa4ter",
                                  "ends with %"};
  UndoOptions options;
  options.priority = -3;
  options.retry = retry(0, 1500us);
  options.retry.backoff = 1.1;
  options.retry.max_delay = 48h;
  options.retry.jitter = 0.3;
  std::copy(std::begin(odd), std::end(odd), options.retry.non_retryable);
  options.timeout = 90min;

  const std::string text = encode_undo_policy(options);
  EXPECT_EQ(text.front(), '"');
  EXPECT_EQ(text.back(), '"');
  EXPECT_EQ(text.find_first_of("\\\n\t"), std::string::npos) << "a JSON string as it stands";
  const auto work = decode_undo_policy(text);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->priority, -3);
  EXPECT_EQ(work->retry.max_attempts, 0);
  EXPECT_EQ(work->retry.first_delay, 1500us);
  EXPECT_EQ(work->retry.backoff, 1.1);
  EXPECT_EQ(work->retry.max_delay, 48h);
  EXPECT_EQ(work->retry.jitter, 0.3);
  EXPECT_EQ(work->timeouts.schedule_to_close, 90min);
  EXPECT_TRUE(work->shielded);
  EXPECT_EQ(work->retry.non_retryable, std::vector<std::string>(std::begin(odd), std::end(odd)));
}

TEST(UndoPolicy, DefaultsComeBackToo) {
  const auto work = decode_undo_policy(encode_undo_policy({}));
  ASSERT_TRUE(work);
  EXPECT_EQ(work->retry.max_attempts, 10);
  EXPECT_EQ(work->timeouts.schedule_to_close, Duration::zero());
  EXPECT_TRUE(work->retry.non_retryable.empty());
}

TEST(UndoPolicy, OtherTextIsRefused) {
  for (const char* text :
       {"", "\"", "\"\"", "null", "\"1 2 3\"", "\"a b c d e f g\"", "1 2 3 4 5 6 7"}) {
    EXPECT_FALSE(decode_undo_policy(text)) << text;
  }
}

TEST(UndoList, TheNewestCompletedCallComesFirst) {
  UndoList list;
  list.add(owed(2, "a"));
  list.add(owed(4, "b"));
  list.add(owed(6, "c"));
  EXPECT_TRUE(list.contains(EventId{4}));
  EXPECT_FALSE(list.contains(EventId{3}));
  EXPECT_TRUE(list.waits_for_calls());
  EXPECT_EQ(list.next(), nullptr);
  list.call_completed(EventId{2}, "1");
  list.call_completed(EventId{4}, "2");
  list.call_ended_otherwise(EventId{6});
  list.call_completed(EventId{5}, "nobody's");
  EXPECT_FALSE(list.waits_for_calls());

  const UndoList::Entry* next = list.next();
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->name, "b");
  EXPECT_EQ(next->result, "2");
  list.begin_next(EventId{8});
  EXPECT_EQ(list.running(), next);
  list.end_running(UndoList::State::kFailed, {});
  EXPECT_EQ(list.running(), nullptr);
  EXPECT_EQ(list.failed(), next);
  ASSERT_NE(list.next(), nullptr);
  EXPECT_EQ(list.next()->name, "a");
  list.begin_next(EventId{10});
  list.end_running(UndoList::State::kDone, {});
  EXPECT_EQ(list.next(), nullptr);
}

}  // namespace
}  // namespace perdure::replay
