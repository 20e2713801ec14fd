#include "runtime/isolation/messages.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/time.h"
#include "runtime/isolation/frame.h"

namespace perdure::runtime {

namespace {

class BodyWriter {
 public:
  void put(std::int64_t number) {
    body_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void put(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    body_ += text;
  }
  std::string take() { return std::move(body_); }

 private:
  std::string body_;
};

class BodyReader {
 public:
  explicit BodyReader(std::string_view body) : rest_(body) {}

  std::int64_t number() {
    std::int64_t number = 0;
    const std::string_view bytes = take(sizeof number);
    std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  std::string text() {
    const auto length = static_cast<std::uint64_t>(number());
    return std::string(take(length));
  }
  void end() const {
    if (!rest_.empty()) throw BadFrame("a frame with more in it than it should have");
  }

 private:
  std::string_view take(std::uint64_t length) {
    if (length > rest_.size()) throw BadFrame("a frame that ends too early");
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }

  std::string_view rest_;
};

}  // namespace

std::string begin_body(const detail::AttemptInfo& info, std::string_view input) {
  BodyWriter body;
  body.put(info.instance_id);
  body.put(info.execution);
  body.put(info.orchestration);
  body.put(info.orchestration_version);
  body.put(info.activity);
  body.put(info.event_id);
  body.put(static_cast<std::int64_t>(info.attempt));
  body.put(info.idempotency_key);
  body.put(info.worker);
  body.put(static_cast<std::int64_t>(info.deadline.has_value()));
  body.put(info.deadline ? to_micros(*info.deadline) : std::int64_t{0});
  body.put(info.heartbeat_details);
  body.put(static_cast<std::int64_t>(info.max_payload_bytes));
  body.put(input);
  return body.take();
}

BeginMessage begin_of(std::string_view body) {
  BodyReader reader(body);
  BeginMessage message;
  detail::AttemptInfo& info = message.info;
  info.instance_id = reader.text();
  info.execution = reader.number();
  info.orchestration = reader.text();
  info.orchestration_version = reader.text();
  info.activity = reader.text();
  info.event_id = reader.number();
  info.attempt = static_cast<int>(reader.number());
  info.idempotency_key = reader.text();
  info.worker = reader.text();
  const bool has_deadline = reader.number() != 0;
  const std::int64_t deadline = reader.number();
  if (has_deadline) info.deadline = time_from_micros(deadline);
  info.heartbeat_details = reader.text();
  info.max_payload_bytes = static_cast<std::size_t>(reader.number());
  message.input = reader.text();
  reader.end();
  return message;
}

std::string failure_body(const Failure& failure) {
  BodyWriter body;
  body.put(failure.type);
  body.put(failure.message);
  body.put(static_cast<std::int64_t>(failure.retryable));
  body.put(failure.details);
  return body.take();
}

Failure failure_in(std::string_view body) {
  BodyReader reader(body);
  Failure failure;
  failure.type = reader.text();
  failure.message = reader.text();
  failure.retryable = reader.number() != 0;
  failure.details = reader.text();
  reader.end();
  return failure;
}

}  // namespace perdure::runtime
