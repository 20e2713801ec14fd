#pragma once

#include <cstddef>
#include <stop_token>
#include <string>

#include <perdure/time.h>

namespace perdure::detail {

/// What an attempt can ask of the worker that runs it. Threading: any thread.
class AttemptApi {
 public:
  AttemptApi() = default;
  AttemptApi(const AttemptApi&) = delete;
  AttemptApi& operator=(const AttemptApi&) = delete;
  virtual ~AttemptApi() = default;

  virtual std::stop_token stop_token() const = 0;
  virtual std::string cancel_reason() const = 0;
  /// Returns when the time is over or the token has fired.
  virtual void sleep_for(Duration time) = 0;
  virtual void heartbeat(std::string details) = 0;
  virtual const std::string& heartbeat_details() const = 0;
  virtual int attempt() const = 0;
  virtual const std::string& idempotency_key() const = 0;
  virtual const std::string& instance_id() const = 0;
  virtual const std::string& activity() const = 0;
  virtual std::size_t max_payload_bytes() const = 0;
};

}  // namespace perdure::detail
