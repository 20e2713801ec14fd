#include "runtime/isolation/inner_attempt.h"

#include <utility>

#include "runtime/sleeper.h"

namespace perdure::runtime {

InnerAttempt::InnerAttempt(WorkerLink& link, detail::AttemptInfo info)
    : link_(link), info_(std::move(info)) {}

void InnerAttempt::stop(const std::string& reason) {
  if (alarm_.stop_requested()) return;
  reason_.with([&](std::string& told) { told = reason; });
  alarm_.request_stop();
  stop_.request_stop();
}

std::string InnerAttempt::cancel_reason() const {
  return reason_.with([](const std::string& told) { return told; });
}

void InnerAttempt::sleep_for(Duration time) {
  real_sleeper().sleep_for(time, alarm_.get_token());
}

void InnerAttempt::heartbeat(std::string details) {
  link_.send({FrameKind::kHeartbeat, std::move(details)});
}

}  // namespace perdure::runtime
