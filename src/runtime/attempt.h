#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include <perdure/detail/attempt_api.h>

#include "base/guarded.h"
#include "model/work_item.h"
#include "runtime/sleeper.h"

namespace perdure::runtime {

/// One try of one call, as its handler sees it. Owns the work item, so a handler that outlives its
/// claim touches nothing that died. Threading: any thread.
class Attempt final : public detail::AttemptApi {
 public:
  /// `sleeper` must outlive it.
  Attempt(WorkItem item, Sleeper& sleeper, std::size_t max_payload_bytes);

  const WorkItem& item() const { return item_; }

  /// Fires the token; the first reason stays.
  void stop(const std::string& reason);
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
    bool stopped = false;
    std::string reason;
    std::optional<std::string> reported;
  };

  const WorkItem item_;
  const std::string key_;  // instance/execution/event: the same for all attempts of the call
  Sleeper& sleeper_;
  const std::size_t max_payload_bytes_;
  std::stop_source stop_;
  Guarded<Told> told_;
};

}  // namespace perdure::runtime
