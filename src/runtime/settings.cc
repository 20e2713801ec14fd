#include "runtime/settings.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "runtime/member_count.h"

namespace perdure::runtime {

namespace {

constexpr std::string_view kQueues = "Queues";
constexpr std::string_view kLocks = "Locks";
constexpr std::string_view kOrchestrations = "Orchestrations";
constexpr std::string_view kActivities = "Activities";
constexpr std::string_view kStopping = "Shutdown and handlers that do not stop";
constexpr std::string_view kStore = "The store and other processes";

constexpr int kMostPerQueue = 100'000;
constexpr Duration kNoTime = Duration::zero();
constexpr Duration kLeastLock = std::chrono::milliseconds(100);
// Twice of it is still a duration that worker_dead_after may have.
constexpr Duration kRarestBeat = std::chrono::hours(24) * 180;

constexpr std::array kSettings = {
    Setting{"workers",
            kQueues,
            QueuesSetting{&RuntimeOptions::workers},
            "the queues that are served, each with limits of its own; empty: the queue `default` "
            "alone"},
    Setting{"queue",
            kQueues,
            QueueNameSetting{&WorkerSettings::queue},
            "name of the queue; no queue stands there twice"},
    Setting{"max_concurrent_orchestrations",
            kQueues,
            CountSetting<WorkerSettings>{
                &WorkerSettings::max_concurrent_orchestrations, 1, kMostPerQueue},
            "runs of the queue that are locked for a turn at a time"},
    Setting{"max_concurrent_activities",
            kQueues,
            CountSetting<WorkerSettings>{
                &WorkerSettings::max_concurrent_activities, 1, kMostPerQueue},
            "handlers of the queue that run at a time"},
    Setting{"orchestration_deadlock_timeout",
            kQueues,
            QueueTimeSetting{&WorkerSettings::orchestration_deadlock_timeout, kNoTime},
            "how long the code of a turn of the queue may run before its run is shown as blocked; "
            "unset: that of the runtime",
            "off"},
    Setting{"max_concurrent_orchestrations",
            kQueues,
            CountSetting<RuntimeOptions>{
                &RuntimeOptions::max_concurrent_orchestrations, 1, kMostPerQueue},
            "the same for `default` when `workers` is empty"},
    Setting{"max_concurrent_activities",
            kQueues,
            CountSetting<RuntimeOptions>{
                &RuntimeOptions::max_concurrent_activities, 1, kMostPerQueue},
            "the same for `default` when `workers` is empty"},

    Setting{"orchestrator_lock_timeout",
            kLocks,
            TimeSetting{&RuntimeOptions::orchestrator_lock_timeout, kLeastLock},
            "how long the lock of a turn on its run holds without renewal"},
    Setting{"worker_lock_timeout",
            kLocks,
            TimeSetting{&RuntimeOptions::worker_lock_timeout, kLeastLock},
            "how long the claim of an activity holds without renewal"},
    Setting{"worker_lock_renewal_buffer",
            kLocks,
            TimeSetting{&RuntimeOptions::worker_lock_renewal_buffer, kNoTime},
            "how long before their end claims are renewed; at most half of `worker_lock_timeout` "
            "counts",
            "as late as is safe, a quarter of that timeout and 3 s at most"},

    Setting{"orchestration_deadlock_timeout",
            kOrchestrations,
            TimeSetting{&RuntimeOptions::orchestration_deadlock_timeout, kNoTime},
            "how long the code of a turn may run before the run is shown as blocked",
            "off"},
    Setting{"cancel_cleanup_timeout",
            kOrchestrations,
            TimeSetting{&RuntimeOptions::cancel_cleanup_timeout},
            "how long a canceled run may clean up before it is ended without its code"},
    Setting{"handler_drain_timeout",
            kOrchestrations,
            TimeSetting{&RuntimeOptions::handler_drain_timeout},
            "how long a run whose main function has ended waits for its message handlers"},
    Setting{"max_cached_orchestrations",
            kOrchestrations,
            SizeSetting{&RuntimeOptions::max_cached_orchestrations, 0, false},
            "runs that are kept in memory between turns; others are replayed",
            "none"},
    Setting{"max_cache_bytes",
            kOrchestrations,
            SizeSetting{&RuntimeOptions::max_cache_bytes, 0, true},
            "memory for the runs that are kept",
            "none are kept"},
    Setting{"replay_check_fraction",
            kOrchestrations,
            FractionSetting{&RuntimeOptions::replay_check_fraction},
            "part of the turns on kept runs that are replayed and compared",
            "none"},
    Setting{"strict_arguments",
            kOrchestrations,
            SwitchSetting{&RuntimeOptions::strict_arguments},
            "whether a call with other arguments than the history has blocks its run; otherwise it "
            "is a warning in the log"},
    Setting{"history_warning_events",
            kOrchestrations,
            SizeSetting{&RuntimeOptions::history_warning_events, 1, false},
            "events of a history from which on the log warns of its length"},

    Setting{"max_attempts",
            kActivities,
            CountSetting<RuntimeOptions>{&RuntimeOptions::max_attempts, 3, 1'000},
            "claims of a call that may be lost, as when its process dies, before it is failed as "
            "poison"},
    Setting{"cancellation_poll_interval",
            kActivities,
            TimeSetting{&RuntimeOptions::cancellation_poll_interval},
            "how often a worker looks for what became of its claims when nobody tells it"},
    Setting{"activity_cancellation_grace_period",
            kActivities,
            TimeSetting{&RuntimeOptions::activity_cancellation_grace_period, kNoTime},
            "how long a handler may go on that was told to stop, before its slot is freed",
            "it is freed at once"},
    Setting{"default_heartbeat_throttle_interval",
            kActivities,
            TimeSetting{.member = &RuntimeOptions::default_heartbeat_throttle_interval,
                        .most_by = {&RuntimeOptions::max_heartbeat_throttle_interval}},
            "how often the heartbeats of a call without a heartbeat timeout are stored"},
    Setting{"max_heartbeat_throttle_interval",
            kActivities,
            TimeSetting{&RuntimeOptions::max_heartbeat_throttle_interval},
            "longest time between two heartbeats that are stored, whatever the timeout of the "
            "call"},

    Setting{"shutdown_grace_period",
            kStopping,
            TimeSetting{&RuntimeOptions::shutdown_grace_period, kNoTime},
            "how long a shutdown waits for the handlers that run before it tells them to stop",
            "they are told at once"},
    Setting{"shutdown_force_timeout",
            kStopping,
            TimeSetting{&RuntimeOptions::shutdown_force_timeout, kNoTime},
            "how long it waits for them after that",
            "not at all"},
    Setting{"force_exit_timeout",
            kStopping,
            TimeSetting{&RuntimeOptions::force_exit_timeout, kNoTime},
            "when the process is ended after it had too many zombies, and after the signal in "
            "`run_until_signal` when the runtime has not stopped",
            "never"},
    Setting{"max_zombie_count",
            kStopping,
            CountSetting<RuntimeOptions>{&RuntimeOptions::max_zombie_count, 0, 100'000},
            "zombies, handlers that do not stop, at which the process shuts down",
            "it never does because of them"},
    Setting{"zombie_retry_interval",
            kStopping,
            TimeSetting{.member = &RuntimeOptions::zombie_retry_interval,
                        .most_by = {&RuntimeOptions::zombie_retry_max_delay}},
            "pause before a handler that was told to stop is told again; doubled each time"},
    Setting{"zombie_retry_max_delay",
            kStopping,
            TimeSetting{&RuntimeOptions::zombie_retry_max_delay},
            "longest of these pauses"},
    Setting{"zombie_grace_period",
            kStopping,
            TimeSetting{&RuntimeOptions::zombie_grace_period, kNoTime},
            "how long after it was told to stop a handler is counted and reported as a zombie",
            "at once"},
    Setting{"zombie_give_up_after",
            kStopping,
            TimeSetting{&RuntimeOptions::zombie_give_up_after},
            "how long a zombie is told again; then it is left alone and stays in the count"},
    Setting{"zombie_shutdown_timeout",
            kStopping,
            TimeSetting{&RuntimeOptions::zombie_shutdown_timeout, kNoTime},
            "how long a shutdown may take, from its begin, while zombies live",
            "no longer than without them"},

    Setting{"store_poll_interval",
            kStore,
            TimeSetting{&RuntimeOptions::store_poll_interval},
            "how often the store is asked for work when nobody tells of any"},
    Setting{"process_heartbeat_interval",
            kStore,
            TimeSetting{.member = &RuntimeOptions::process_heartbeat_interval, .most = kRarestBeat},
            "how often a process that holds work shows that it lives, and looks at the others"},
    Setting{"worker_dead_after",
            kStore,
            TimeSetting{.member = &RuntimeOptions::worker_dead_after,
                        .least_by = {&RuntimeOptions::process_heartbeat_interval, 2}},
            "how long a process that holds work may be silent before others take it over"},
    Setting{"max_payload_bytes",
            kStore,
            SizeSetting{&RuntimeOptions::max_payload_bytes, 1, true},
            "largest value that orchestrations and activities may store, as JSON"},
};

constexpr bool stands_in_worker(const SettingKind& kind) {
  return std::holds_alternative<CountSetting<WorkerSettings>>(kind) ||
         std::holds_alternative<QueueNameSetting>(kind) ||
         std::holds_alternative<QueueTimeSetting>(kind);
}

constexpr std::size_t rows_of(bool worker) {
  std::size_t rows = 0;
  for (const Setting& each : kSettings) rows += stands_in_worker(each.kind) == worker ? 1 : 0;
  return rows;
}

static_assert(rows_of(false) == member_count<RuntimeOptions>(),
              "a member of RuntimeOptions has no row in this table");
static_assert(rows_of(true) == member_count<WorkerSettings>(),
              "a member of WorkerSettings has no row in this table");

}  // namespace

std::span<const Setting> settings() {
  return kSettings;
}

bool is_of_queue(const Setting& setting) {
  return stands_in_worker(setting.kind);
}

bool is_relative(const Setting& setting) {
  const auto* const time = std::get_if<TimeSetting>(&setting.kind);
  return time != nullptr && (time->least_by.member != nullptr || time->most_by.member != nullptr);
}

std::string full_name(const Setting& setting) {
  return (is_of_queue(setting) ? "workers[]." : "") + std::string(setting.name);
}

const Setting& time_setting(Duration RuntimeOptions::*member) {
  const auto found = std::find_if(kSettings.begin(), kSettings.end(), [&](const Setting& each) {
    const auto* const time = std::get_if<TimeSetting>(&each.kind);
    return time != nullptr && time->member == member;
  });
  PERDURE_CHECK(found != kSettings.end(), "every member has a row");
  return *found;
}

Duration least_of(const TimeSetting& setting, const RuntimeOptions& options) {
  const BoundBy& by = setting.least_by;
  return by.member == nullptr ? setting.least : by.times * (options.*by.member);
}

Duration most_of(const TimeSetting& setting, const RuntimeOptions& options) {
  const BoundBy& by = setting.most_by;
  return by.member == nullptr ? setting.most : by.times * (options.*by.member);
}

}  // namespace perdure::runtime
