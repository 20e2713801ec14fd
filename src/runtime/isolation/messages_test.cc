#include "runtime/isolation/messages.h"

#include <gtest/gtest.h>

#include "base/time.h"
#include "runtime/isolation/frame.h"

namespace perdure::runtime {

namespace {

detail::AttemptInfo some_attempt() {
  detail::AttemptInfo info;
  info.instance_id = "order";
  info.execution = 2;
  info.orchestration = "checkout";
  info.orchestration_version = "2.1";
  info.activity = "charge";
  info.event_id = 5;
  info.attempt = 3;
  info.idempotency_key = "order/2/5";
  info.worker = "here:1#1";
  info.deadline = time_from_micros(77);
  info.heartbeat_details = "{}";
  info.max_payload_bytes = 100;
  return info;
}

/// Every body that is a byte or more too short, and one that is too long.
template <class Read>
void expect_no_other_length(const std::string& body, Read read) {
  for (std::size_t length = 0; length < body.size(); ++length) {
    EXPECT_THROW(read(body.substr(0, length)), BadFrame) << length;
  }
  EXPECT_THROW(read(body + "x"), BadFrame);
}

TEST(Messages, OfABeginKeepAllOfTheAttempt) {
  const detail::AttemptInfo info = some_attempt();
  const std::string body = begin_body(info, "41");
  const BeginMessage message = begin_of(body);
  EXPECT_EQ(message.input, "41");
  EXPECT_EQ(begin_body(message.info, message.input), body);
  EXPECT_EQ(message.info.instance_id, info.instance_id);
  EXPECT_EQ(message.info.attempt, info.attempt);
  EXPECT_EQ(message.info.deadline, info.deadline);
  EXPECT_EQ(message.info.max_payload_bytes, info.max_payload_bytes);
  detail::AttemptInfo endless = info;
  endless.deadline.reset();
  EXPECT_FALSE(begin_of(begin_body(endless, "")).info.deadline.has_value());
}

TEST(Messages, OfAFailureKeepAllOfIt) {
  const Failure failure{"gateway", "no answer", false, R"({"port":80})"};
  EXPECT_EQ(failure_in(failure_body(failure)), failure);
}

TEST(Messages, OfAnotherLengthAreRefused) {
  expect_no_other_length(begin_body(some_attempt(), "41"), begin_of);
  expect_no_other_length(failure_body({"a", "b", true, "c"}), failure_in);
  std::string endless(8, '\xff');  // a text of so many bytes
  EXPECT_THROW(failure_in(endless), BadFrame);
}

}  // namespace

}  // namespace perdure::runtime
