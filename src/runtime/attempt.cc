#include "runtime/attempt.h"

#include <utility>

namespace perdure::runtime {

namespace {

std::string key_of(const WorkItem& item) {
  return item.instance_id + "/" + std::to_string(item.owner.execution.value) + "/" +
         std::to_string(item.owner.event.value);
}

}  // namespace

Attempt::Attempt(WorkItem item,
                 Sleeper& sleeper,
                 std::size_t max_payload_bytes,
                 std::chrono::steady_clock::time_point begun_at)
    : item_(std::move(item)),
      key_(key_of(item_)),
      sleeper_(sleeper),
      max_payload_bytes_(max_payload_bytes),
      begun_at_(begun_at) {}

void Attempt::stop(StopCause cause, const std::string& reason) {
  told_.with([&](Told& told) {
    if (told.cause) return;
    told.cause = cause;
    told.reason = reason;
  });
  stop_.request_stop();
}

std::optional<StopCause> Attempt::stopped_by() const {
  return told_.with([](const Told& told) { return told.cause; });
}

std::optional<std::string> Attempt::reported() const {
  return told_.with([](const Told& told) { return told.reported; });
}

std::string Attempt::cancel_reason() const {
  return told_.with([](const Told& told) { return told.reason; });
}

void Attempt::heartbeat(std::string details) {
  told_.with([&](Told& told) { told.reported = std::move(details); });
}

}  // namespace perdure::runtime
