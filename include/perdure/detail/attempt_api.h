#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include <perdure/time.h>

namespace perdure::detail {

/// What an attempt is told when it begins; nothing of it changes.
struct AttemptInfo {
  std::string instance_id;
  std::int64_t execution = 0;
  std::string orchestration;
  std::string orchestration_version;  ///< empty: the run has none
  std::string activity;
  std::int64_t event_id = 0;  ///< of the event that scheduled the call
  int attempt = 1;
  std::string idempotency_key;
  std::string worker;
  std::optional<TimePoint> deadline;
  std::string heartbeat_details;  ///< of an earlier attempt; empty: none
  std::size_t max_payload_bytes = 0;
};

/// What an attempt can ask of the worker that runs it. Threading: any thread.
class AttemptApi {
 public:
  AttemptApi() = default;
  AttemptApi(const AttemptApi&) = delete;
  AttemptApi& operator=(const AttemptApi&) = delete;
  virtual ~AttemptApi() = default;

  virtual const AttemptInfo& info() const = 0;
  /// What user code gets: its callbacks run on threads of their own and may block.
  virtual std::stop_token stop_token() const = 0;
  /// What the waits of the context use: fires first, and nothing of user code is on it.
  virtual std::stop_token alarm() const = 0;
  virtual std::string cancel_reason() const = 0;
  /// Returns when the time is over or the token has fired.
  virtual void sleep_for(Duration time) = 0;
  virtual void heartbeat(std::string details) = 0;
};

}  // namespace perdure::detail
