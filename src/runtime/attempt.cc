#include "runtime/attempt.h"

#include <algorithm>
#include <utility>

namespace perdure::runtime {

namespace {

/// By the clock of the store; the earlier of the two limits.
std::optional<TimePoint> deadline_of(const WorkItem& item) {
  const WorkTimeouts& limits = item.work.timeouts;
  std::optional<TimePoint> deadline;
  if (limits.start_to_close > Duration::zero()) {
    deadline = add(item.claimed_at, limits.start_to_close);
  }
  if (limits.schedule_to_close > Duration::zero()) {
    const TimePoint all = add(item.created_at, limits.schedule_to_close);
    deadline = deadline ? std::min(*deadline, all) : all;
  }
  return deadline;
}

detail::AttemptInfo info_of(const WorkItem& item, const Attempt::Surroundings& surroundings) {
  detail::AttemptInfo info;
  info.instance_id = item.instance_id;
  info.execution = item.owner.execution.value;
  info.orchestration = item.orchestration;
  info.orchestration_version = item.orchestration_version;
  info.activity = item.work.name;
  info.event_id = item.owner.event.value;
  info.attempt = item.attempt();
  // The same for all attempts of the call.
  info.idempotency_key =
      item.instance_id + "/" + std::to_string(info.execution) + "/" + std::to_string(info.event_id);
  info.worker = surroundings.worker;
  info.deadline = deadline_of(item);
  info.heartbeat_details = item.heartbeat_details;
  info.max_payload_bytes = surroundings.max_payload_bytes;
  return info;
}

}  // namespace

Attempt::Attempt(WorkItem item,
                 Surroundings surroundings,
                 std::chrono::steady_clock::time_point sent_at,
                 std::chrono::steady_clock::time_point begun_at)
    : item_(std::move(item)),
      surroundings_(std::move(surroundings)),
      info_(info_of(item_, surroundings_)),
      sent_at_(sent_at),
      begun_at_(begun_at) {}

void Attempt::stop(StopCause cause, const std::string& reason) {
  if (tell(cause, reason)) fire();
}

bool Attempt::tell(StopCause cause, const std::string& reason) {
  std::string why = reason;  // what may throw comes before the first change
  const bool first = told_.with([&](Told& told) {
    if (told.cause) return false;
    told.cause = cause;
    told.reason = std::move(why);
    told.at = steady_now();
    return true;
  });
  if (first) alarm_.request_stop();
  return first;
}

std::optional<StopCause> Attempt::stopped_by() const {
  return told_.with([](const Told& told) { return told.cause; });
}

Duration Attempt::told_for() const {
  return told_.with([](const Told& told) {
    if (!told.cause) return Duration::zero();
    return std::chrono::duration_cast<Duration>(steady_now() - told.at);
  });
}

std::optional<std::string> Attempt::reported() const {
  return told_.with([](const Told& told) { return told.reported; });
}

std::string Attempt::cancel_reason() const {
  return told_.with([](const Told& told) { return told.reason; });
}

void Attempt::heartbeat(std::string details) {
  const bool first = told_.with([&](Told& told) {
    const bool none_waits = !told.unstored;
    told.reported = std::move(details);
    told.beaten_at = steady_now();
    told.unstored = true;
    return none_waits && !told.stored_at;
  });
  if (first && surroundings_.beats) surroundings_.beats->ring();
}

bool Attempt::take_due_beat(std::chrono::steady_clock::time_point now) {
  const Duration interval = surroundings_.throttle.interval(item_.work.timeouts.heartbeat);
  return told_.with([&](Told& told) {
    if (!told.unstored || (told.stored_at && now - *told.stored_at < interval)) return false;
    told.unstored = false;
    told.stored_at = now;
    return true;
  });
}

void Attempt::put_back_beat() {
  told_.with([](Told& told) {
    told.unstored = true;
    told.stored_at.reset();
  });
}

std::chrono::steady_clock::time_point Attempt::alive_at() const {
  return told_.with([this](const Told& told) { return told.beaten_at.value_or(begun_at_); });
}

}  // namespace perdure::runtime
