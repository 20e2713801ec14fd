#pragma once

#include <stop_token>
#include <string>

#include <perdure/detail/attempt_api.h>

#include "base/guarded.h"
#include "runtime/isolation/worker_link.h"

namespace perdure::runtime {

/// An attempt as its handler sees it inside the process that was made for it. The worker keeps the
/// attempt itself: claims, throttle and limits are there. Threading: any thread.
class InnerAttempt final : public detail::AttemptApi {
 public:
  /// `link` must outlive it.
  InnerAttempt(WorkerLink& link, detail::AttemptInfo info);

  /// Fires both tokens on this thread. The first reason stays.
  void stop(const std::string& reason);

  const detail::AttemptInfo& info() const override { return info_; }
  std::stop_token stop_token() const override { return stop_.get_token(); }
  std::stop_token alarm() const override { return alarm_.get_token(); }
  std::string cancel_reason() const override;
  void sleep_for(Duration time) override;
  void heartbeat(std::string details) override;

 private:
  WorkerLink& link_;
  const detail::AttemptInfo info_;
  std::stop_source alarm_;
  std::stop_source stop_;
  Guarded<std::string> reason_;
};

}  // namespace perdure::runtime
