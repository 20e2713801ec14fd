#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <perdure/detail/attempt_api.h>
#include <perdure/errors.h>
#include <perdure/json.h>
#include <perdure/time.h>

namespace perdure {

/// What a running activity sees of the engine: one attempt of one call.
///
/// Stopping is cooperative: `stop_token()` fires when the run is canceled, the call has timed out,
/// the claim was lost or the worker shuts down; `sleep_for`, `wait` and `heartbeat` honour it by
/// throwing `Canceled`. A handler that does not listen is never killed, unless it was registered
/// with `Isolation::kProcess`; its late result is refused.
/// Threading: any thread of the handler, until the handler returns.
class ActivityContext {
 public:
  explicit ActivityContext(detail::AttemptApi& api) : api_(api) {}
  ActivityContext(const ActivityContext&) = delete;
  ActivityContext& operator=(const ActivityContext&) = delete;

  /// For the handler's own waits and threads. Callbacks on it may block: they delay nobody else.
  /// They must not throw.
  std::stop_token stop_token() const { return api_.stop_token(); }
  /// May be true a moment before the token fires.
  bool is_cancellation_requested() const { return api_.alarm().stop_requested(); }
  /// Why the token fired; empty before.
  std::string cancel_reason() const { return api_.cancel_reason(); }
  void throw_if_canceled() const {
    if (is_cancellation_requested()) throw Canceled(api_.cancel_reason());
  }

  /// Sleeps; wakes at once and throws `Canceled` when the token fires.
  void sleep_for(Duration time) {
    api_.sleep_for(time);
    throw_if_canceled();
  }
  /// Waits until `done()`; throws `Canceled` when the token fires first. `lock` holds the mutex
  /// that guards what `done` reads, as with any condition variable.
  template <class Lock, class Done>
  void wait(std::condition_variable_any& changed, Lock& lock, Done done) {
    if (!changed.wait(lock, api_.alarm(), std::move(done))) throw_if_canceled();
  }
  /// Blocks until the token fires; answers why.
  std::string wait_until_canceled() {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait(lock, api_.alarm(), [] { return false; });
    return api_.cancel_reason();
  }

  /// Tells that the attempt makes progress; the newest details go to the next attempt when this one
  /// is lost or fails. The first are stored at once, later ones as the throttle of the runtime says
  /// and with the end of the attempt: call it as often as you like. An attempt that gives none for
  /// longer than the `heartbeat` of its call has failed. One without details says that there are
  /// none: earlier ones do not stay. Throws `Canceled` when the token has fired.
  void heartbeat() { beat("null"); }
  template <class T>
  void heartbeat(const T& details) {
    beat(detail::encode<T>(details, "the heartbeat's details", api_.info().max_payload_bytes));
  }
  /// The last details of an earlier attempt.
  template <class T>
  std::optional<T> heartbeat_details() const {
    const std::string& text = api_.info().heartbeat_details;
    if (text.empty() || text == "null") return std::nullopt;
    return detail::decode<T>(text, "the heartbeat's details");
  }

  int attempt() const { return api_.info().attempt; }  ///< 1 for the first
  /// The same for all attempts of a call, different for every other call: for systems outside that
  /// must do a thing once.
  const std::string& idempotency_key() const { return api_.info().idempotency_key; }
  /// When the attempt is over for the engine: the first of its `start_to_close` and the call's
  /// `schedule_to_close`, by the clock of the store. Nothing: it has neither.
  std::optional<TimePoint> deadline() const { return api_.info().deadline; }

  const std::string& instance_id() const { return api_.info().instance_id; }
  std::int64_t execution() const { return api_.info().execution; }  ///< 1 for the first
  const std::string& orchestration() const { return api_.info().orchestration; }
  /// Empty: the run has no version.
  const std::string& orchestration_version() const { return api_.info().orchestration_version; }
  const std::string& name() const { return api_.info().activity; }
  /// Number of the event in the history of the run that scheduled the call.
  std::int64_t event_id() const { return api_.info().event_id; }
  /// The process that runs the attempt, as `host:pid#registration`; of an isolated handler the
  /// worker that started its process.
  const std::string& worker() const { return api_.info().worker; }

 private:
  void beat(std::string details) {
    api_.heartbeat(std::move(details));
    throw_if_canceled();
  }

  detail::AttemptApi& api_;
};

}  // namespace perdure
