#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <perdure/detail/attempt_api.h>

#include "base/clock.h"
#include "base/guarded.h"
#include "model/work_item.h"
#include "runtime/beat_signal.h"
#include "runtime/heartbeat_throttle.h"
#include "runtime/sleeper.h"
#include "runtime/stop_cause.h"
#include "runtime/stop_firer.h"

namespace perdure::runtime {

/// One try of one call, as its handler sees it. Owns the work item, so a handler that outlives its
/// claim touches nothing that died. Threading: any thread.
class Attempt final : public detail::AttemptApi {
 public:
  /// What it uses of its worker: the sleeper must outlive it.
  struct Surroundings {
    Sleeper& sleeper;
    std::shared_ptr<StopFirer> firer;
    std::size_t max_payload_bytes = 0;
    HeartbeatThrottle throttle;
    std::string worker;                 ///< who runs it
    std::shared_ptr<BeatSignal> beats;  ///< who stores heartbeats; may be null
  };

  /// `sent_at`: before the claim was sent, so that its lease does not seem to end too late.
  /// `begun_at`: what its own limits are counted from.
  Attempt(WorkItem item,
          Surroundings surroundings,
          std::chrono::steady_clock::time_point sent_at = steady_now(),
          std::chrono::steady_clock::time_point begun_at = steady_now());

  const WorkItem& item() const { return item_; }
  std::chrono::steady_clock::time_point sent_at() const { return sent_at_; }
  std::chrono::steady_clock::time_point begun_at() const { return begun_at_; }

  /// `tell`, and `fire` when it was the first.
  void stop(StopCause cause, const std::string& reason);
  /// Wakes the waits of the context; never blocks. False when it was told before: the first cause
  /// and reason stay.
  bool tell(StopCause cause, const std::string& reason);
  /// Has the handler's token fired, after `tell`.
  void fire() { surroundings_.firer->fire(stop_); }
  /// Nothing before it was told. The token of user code may fire a moment later.
  std::optional<StopCause> stopped_by() const;

  /// How long ago it was told to stop; zero before.
  Duration told_for() const;

  /// True for the first who asks: the one that writes the end of this attempt.
  bool settle() { return !settled_.exchange(true); }
  bool is_settled() const { return settled_; }

  /// What the handler last reported with a heartbeat.
  std::optional<std::string> reported() const;
  /// Whether a heartbeat is due to be stored that was not; from then on it counts as stored.
  bool take_due_beat(std::chrono::steady_clock::time_point now);
  /// The beat that was taken could not be stored: it is due again.
  void put_back_beat();
  /// When the handler last gave a sign of life: a heartbeat, or its begin.
  std::chrono::steady_clock::time_point alive_at() const;

  std::stop_token stop_token() const override { return stop_.get_token(); }
  std::string cancel_reason() const override;
  std::stop_token alarm() const override { return alarm_.get_token(); }
  void sleep_for(Duration time) override {
    surroundings_.sleeper.sleep_for(time, alarm_.get_token());
  }
  /// Stored at once when it is the first, later as the throttle says; the newest counts.
  void heartbeat(std::string details) override;
  const detail::AttemptInfo& info() const override { return info_; }
  const std::string& instance_id() const { return item_.instance_id; }
  const std::string& activity() const { return item_.work.name; }
  int attempt() const { return info_.attempt; }

 private:
  struct Told {
    std::optional<StopCause> cause;
    std::string reason;
    std::chrono::steady_clock::time_point at;
    std::optional<std::string> reported;
    std::optional<std::chrono::steady_clock::time_point> beaten_at;
    std::optional<std::chrono::steady_clock::time_point> stored_at;
    bool unstored = false;
  };

  const WorkItem item_;
  const Surroundings surroundings_;
  const detail::AttemptInfo info_;
  const std::chrono::steady_clock::time_point sent_at_;
  const std::chrono::steady_clock::time_point begun_at_;
  std::stop_source alarm_;
  std::stop_source stop_;
  std::atomic<bool> settled_{false};
  Guarded<Told> told_;
};

}  // namespace perdure::runtime
