#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>

#include <perdure/detail/attempt_api.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "model/work_item.h"
#include "runtime/sleeper.h"
#include "runtime/stop_cause.h"

namespace perdure::runtime {

/// One try of one call, as its handler sees it. Owns the work item, so a handler that outlives its
/// claim touches nothing that died. Threading: any thread.
class Attempt final : public detail::AttemptApi {
 public:
  /// `sleeper` must outlive it. `begun_at`: before the claim was sent, so that no limit that is
  /// counted from it ends too late.
  Attempt(WorkItem item,
          Sleeper& sleeper,
          std::size_t max_payload_bytes,
          std::chrono::steady_clock::time_point begun_at = steady_now());

  const WorkItem& item() const { return item_; }
  std::chrono::steady_clock::time_point begun_at() const { return begun_at_; }

  /// Fires the token; the first cause and reason stay.
  void stop(StopCause cause, const std::string& reason);
  /// Nothing before the token has fired.
  std::optional<StopCause> stopped_by() const;

  /// True for the first who asks: the one that writes the end of this attempt.
  bool settle() { return !settled_.exchange(true); }
  bool is_settled() const { return settled_; }

  /// What the handler last reported with a heartbeat.
  std::optional<std::string> reported() const;

  std::stop_token stop_token() const override { return stop_.get_token(); }
  std::string cancel_reason() const override;
  void sleep_for(Duration time) override { sleeper_.sleep_for(time, stop_.get_token()); }
  void heartbeat(std::string details) override;
  const std::string& heartbeat_details() const override { return item_.heartbeat_details; }
  int attempt() const override { return item_.attempt(); }
  const std::string& idempotency_key() const override { return key_; }
  const std::string& instance_id() const override { return item_.instance_id; }
  const std::string& activity() const override { return item_.work.name; }
  std::size_t max_payload_bytes() const override { return max_payload_bytes_; }

 private:
  struct Told {
    std::optional<StopCause> cause;
    std::string reason;
    std::optional<std::string> reported;
  };

  const WorkItem item_;
  const std::string key_;  // instance/execution/event: the same for all attempts of the call
  Sleeper& sleeper_;
  const std::size_t max_payload_bytes_;
  const std::chrono::steady_clock::time_point begun_at_;
  std::stop_source stop_;
  std::atomic<bool> settled_{false};
  Guarded<Told> told_;
};

}  // namespace perdure::runtime
