#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <perdure/contracts.h>
#include <perdure/detail/given_value.h>
#include <perdure/errors.h>
#include <perdure/json.h>
#include <perdure/options.h>
#include <perdure/outcome.h>
#include <perdure/registry.h>
#include <perdure/run_status.h>
#include <perdure/time.h>

/// Tests of orchestrations, without threads, files or waiting.
///
///     pd::testing::TestRuntime runtime(registry);
///     auto run = runtime.start(checkout, "o-1", order);
///     runtime.advance(48h);
///     EXPECT_EQ(run.result(), "rejected");
namespace perdure::testing {

struct TestOptions {
  std::size_t max_payload_bytes = std::size_t{2} << 20U;
  Duration cleanup_timeout = std::chrono::seconds(60);  ///< cancel_cleanup_timeout
  Duration handler_drain_timeout = std::chrono::seconds(60);
  /// Steps that `run_until_idle` may take without time passing; then it throws, since the code
  /// under test never comes to rest.
  std::size_t max_steps = 100'000;
  /// Part of the turns on kept frames that are replayed and compared, 0 to 1; a difference is an
  /// error in the log. Of no use while frames are thrown away: then every turn replays.
  double replay_check_fraction = 0.0;
  /// A call with other arguments than the history has blocks the run; otherwise it is a warning.
  bool strict_arguments = false;
};

/// What happens to a commit of a turn that is made to fail. In each case the frames are thrown away
/// and the turn is computed again; nothing is done twice.
enum class CommitFault : std::uint8_t {
  kRefused,      ///< nothing written, as when a cancel came under the turn: again at once
  kUnavailable,  ///< nothing written, as when the store is down: again after a pause
  kLockLost,     ///< nothing written, another process took the lock: again at once
  kUnknown,      ///< nothing written, and the answer does not say so: again after a pause
  kAnswerLost,   ///< written, and the answer does not say so
};

/// One row of a history, for people and for comparing.
struct RecordedEvent {
  std::int64_t id = 0;
  std::string kind;         ///< as in "activity_scheduled"
  std::int64_t source = 0;  ///< the event that this one answers; 0 = none
  std::string name;
  std::string payload;  ///< JSON text
  std::string text;
  Failure failure;
  TimePoint at{};

  bool operator==(const RecordedEvent&) const = default;
};

/// What waits in the store.
struct Queued {
  std::int64_t runs_ready = 0;                ///< want a turn now
  std::int64_t runs_later = 0;                ///< want one later: a timer, a pause
  std::map<std::string, std::int64_t> calls;  ///< of activities that have not ended, by name
};

namespace detail {
class TestEngine;

struct EndedRun {
  ExecutionStatus status = ExecutionStatus::kCompleted;
  std::string output;
  Failure failure;
  std::string reason;
};
/// Runs until idle; Conflict that says what the run waits for when it has not ended.
EndedRun end_of(TestEngine& engine, const std::string& id);
RunStatus status_of(TestEngine& engine, const std::string& id);

struct MadeUpdate {
  std::int64_t run_key = 0;
  std::string update_id;
};
/// Runs until idle, then the result as JSON text; throws as `Client::update`, and Conflict when it
/// is not done.
std::string result_of(TestEngine& engine, const MadeUpdate& update);
/// As it stands, runs nothing: "waiting", "accepted", "answered", "refused", "failed".
std::string stage_of(TestEngine& engine, const MadeUpdate& update);
}  // namespace detail

/// An update under test. Must not outlive its TestRuntime.
template <class R>
class TestUpdate {
 public:
  TestUpdate(detail::TestEngine& engine, detail::MadeUpdate made)
      : engine_(&engine), made_(std::move(made)) {}

  const std::string& update_id() const { return made_.update_id; }
  /// Runs until idle, then the result; throws what `Client::update` throws, or `Conflict` when it
  /// is not done.
  R result() {
    const std::string result = detail::result_of(*engine_, made_);
    if constexpr (!std::is_void_v<R>) {
      return perdure::detail::decode<R>(result, "the result of update '" + made_.update_id + "'");
    }
  }
  /// As it stands; runs nothing: "waiting", "accepted", "answered", "refused" or "failed".
  std::string stage() const { return detail::stage_of(*engine_, made_); }

 private:
  detail::TestEngine* engine_;
  detail::MadeUpdate made_;
};

/// A run under test. Must not outlive its TestRuntime.
template <class R>
class TestRun {
 public:
  TestRun(detail::TestEngine& engine, std::string id) : engine_(&engine), id_(std::move(id)) {}

  const std::string& id() const { return id_; }

  /// Runs until idle, then the result; throws `RunFailed`, `RunCanceled` (also for a terminated
  /// run), or `Conflict` that says what it waits for when it has not ended.
  R result() {
    const detail::EndedRun end = detail::end_of(*engine_, id_);
    if (end.status == ExecutionStatus::kFailed) throw RunFailed(end.failure);
    if (end.status != ExecutionStatus::kCompleted) throw RunCanceled(end.reason);
    if constexpr (!std::is_void_v<R>) return decoded(end);
  }

  /// The same as a value; throws only `Conflict`.
  Outcome<R> outcome() {
    const detail::EndedRun end = detail::end_of(*engine_, id_);
    if (end.status == ExecutionStatus::kFailed) return Outcome<R>::failed(end.failure);
    if (end.status != ExecutionStatus::kCompleted) return Outcome<R>::canceled(end.reason);
    return Outcome<R>::completed(decoded(end));
  }

  /// As it stands; runs nothing.
  RunStatus status() const { return detail::status_of(*engine_, id_); }

 private:
  perdure::detail::Stored<R> decoded(const detail::EndedRun& end) const {
    return perdure::detail::decode<R>(end.output, "the result of run '" + id_ + "'");
  }

  detail::TestEngine* engine_;
  std::string id_;
};

/// The whole engine on the thread of the test: dispatcher, workers and housekeeping step by step
/// over a store in memory, with a clock that stands still until the test moves it. So a wait of 30
/// days takes milliseconds, and nothing happens while the test looks.
///
/// Nothing runs before `run_until_idle`, `advance` or `result()`. Activities are those of the
/// registry unless replaced by `fake`; they run on the thread of the test, also those that are
/// registered with `Isolation::kProcess`; they may use this object themselves (raise an event,
/// cancel), and move the clock when they sleep. All queues are served.
/// Frames are thrown away after every turn unless told otherwise, so that every turn replays all
/// that came before: code that is not deterministic is found at once, and shows as
/// `status(id).blocked == "nondeterminism"`.
///
/// Bad input (an id that is empty or too long, a payload that is too large, does not fit its type
/// or has no JSON form) throws `InvalidArgument` naming the field, and nothing is stored.
/// One thread. The registry is copied: what is added to it later is not seen.
class TestRuntime {
 public:
  explicit TestRuntime(const Registry& registry, const TestOptions& options = {});
  TestRuntime(const TestRuntime&) = delete;
  TestRuntime& operator=(const TestRuntime&) = delete;
  ~TestRuntime();

  // Runs.
  /// Stores a start; the first turn comes with the next `run_until_idle`. The input is checked as
  /// that of `Client::start`.
  template <class R, class A, class In = A>
  TestRun<R> start(const Orchestration<R(A)>& orchestration,
                   std::string_view id,
                   In&& input,
                   const StartOptions& options = {}) {
    perdure::detail::check_input<A, In>();
    const std::string what = perdure::detail::input_of(orchestration.name());
    start_text(orchestration.name(), id, encoded<A>(std::forward<In>(input), what), options);
    return find<R>(id);
  }
  template <class R>
  TestRun<R> start(const Orchestration<R()>& orchestration,
                   std::string_view id,
                   const StartOptions& options = {}) {
    start_text(orchestration.name(), id, "null", options);
    return find<R>(id);
  }
  /// A handle to a run that is known by its id: a child, a detached run.
  template <class R>
  TestRun<R> find(std::string_view id) {
    return TestRun<R>(*engine_, std::string(id));
  }

  /// The payload is checked as that of `Client::raise_event`.
  template <perdure::detail::Payload T, class In = T>
  EventDelivered raise_event(std::string_view id,
                             const Event<T>& event,
                             In&& payload,
                             Duration delay = {}) {
    perdure::detail::check_payload<T, In>();
    const std::string what = perdure::detail::payload_of_event(event.name());
    return raise_text(id, event.name(), encoded<T>(std::forward<In>(payload), what), delay);
  }
  EventDelivered raise_event(std::string_view id, const Event<void>& event, Duration delay = {}) {
    return raise_text(id, event.name(), "null", delay);
  }
  // Messages to the handlers of runs; errors and checks as those of `Client`.
  /// Stores a signal; the run takes it with the next `run_until_idle`.
  template <perdure::detail::Payload T, class In = T>
  void signal(std::string_view id, const Signal<T>& signal, In&& payload, Duration delay = {}) {
    signal_text(id, signal.name(), signal_payload(signal, std::forward<In>(payload)), delay);
  }
  void signal(std::string_view id, const Signal<void>& signal, Duration delay = {}) {
    signal_text(id, signal.name(), "null", delay);
  }
  /// Stores a start and a signal in one commit.
  template <class R, class A, perdure::detail::Payload T, class In = A, class Told = T>
  TestRun<R> signal_with_start(const Orchestration<R(A)>& orchestration,
                               std::string_view id,
                               In&& input,
                               const Signal<T>& signal,
                               Told&& payload) {
    start_with_signal_text(orchestration.name(),
                           id,
                           input_text(orchestration, std::forward<In>(input)),
                           signal.name(),
                           signal_payload(signal, std::forward<Told>(payload)));
    return find<R>(id);
  }
  template <class R, class A, class In = A>
  TestRun<R> signal_with_start(const Orchestration<R(A)>& orchestration,
                               std::string_view id,
                               In&& input,
                               const Signal<void>& signal) {
    start_with_signal_text(orchestration.name(),
                           id,
                           input_text(orchestration, std::forward<In>(input)),
                           signal.name(),
                           "null");
    return find<R>(id);
  }
  template <class R, perdure::detail::Payload T, class Told = T>
  TestRun<R> signal_with_start(const Orchestration<R()>& orchestration,
                               std::string_view id,
                               const Signal<T>& signal,
                               Told&& payload) {
    start_with_signal_text(orchestration.name(),
                           id,
                           "null",
                           signal.name(),
                           signal_payload(signal, std::forward<Told>(payload)));
    return find<R>(id);
  }
  template <class R>
  TestRun<R> signal_with_start(const Orchestration<R()>& orchestration,
                               std::string_view id,
                               const Signal<void>& signal) {
    start_with_signal_text(orchestration.name(), id, "null", signal.name(), "null");
    return find<R>(id);
  }
  /// Stores an update; an empty `update_id`: one is made. The run takes it with the next
  /// `run_until_idle`.
  template <class R, class A, class In = A>
  TestUpdate<R> start_update(std::string_view id,
                             const Update<R(A)>& update,
                             In&& input,
                             std::string_view update_id = {}) {
    return {*engine_,
            update_text(
                id, update.name(), update_input(update, std::forward<In>(input)), update_id)};
  }
  template <class R>
  TestUpdate<R> start_update(std::string_view id,
                             const Update<R()>& update,
                             std::string_view update_id = {}) {
    return {*engine_, update_text(id, update.name(), "null", update_id)};
  }
  /// Stores a start and an update in one commit; a run that is there just gets the update.
  template <class U, class B, class R, class A, class In = A, class Told = B>
  TestUpdate<U> update_with_start(const Orchestration<R(A)>& orchestration,
                                  std::string_view id,
                                  In&& input,
                                  const Update<U(B)>& update,
                                  Told&& told,
                                  std::string_view update_id = {}) {
    return {*engine_,
            start_with_update_text(orchestration.name(),
                                   id,
                                   input_text(orchestration, std::forward<In>(input)),
                                   update.name(),
                                   update_input(update, std::forward<Told>(told)),
                                   update_id)};
  }
  template <class U, class R, class A, class In = A>
  TestUpdate<U> update_with_start(const Orchestration<R(A)>& orchestration,
                                  std::string_view id,
                                  In&& input,
                                  const Update<U()>& update,
                                  std::string_view update_id = {}) {
    return {*engine_,
            start_with_update_text(orchestration.name(),
                                   id,
                                   input_text(orchestration, std::forward<In>(input)),
                                   update.name(),
                                   "null",
                                   update_id)};
  }
  template <class U, class B, class R, class Told = B>
  TestUpdate<U> update_with_start(const Orchestration<R()>& orchestration,
                                  std::string_view id,
                                  const Update<U(B)>& update,
                                  Told&& told,
                                  std::string_view update_id = {}) {
    return {*engine_,
            start_with_update_text(orchestration.name(),
                                   id,
                                   "null",
                                   update.name(),
                                   update_input(update, std::forward<Told>(told)),
                                   update_id)};
  }
  template <class U, class R>
  TestUpdate<U> update_with_start(const Orchestration<R()>& orchestration,
                                  std::string_view id,
                                  const Update<U()>& update,
                                  std::string_view update_id = {}) {
    return {*engine_,
            start_with_update_text(
                orchestration.name(), id, "null", update.name(), "null", update_id)};
  }
  /// Makes an update and runs until idle: its result, or what `Client::update` throws; `Conflict`
  /// when it is not done then.
  template <class R, class A, class In = A>
  R update(std::string_view id, const Update<R(A)>& update, In&& input) {
    return start_update(id, update, std::forward<In>(input)).result();
  }
  template <class R>
  R update(std::string_view id, const Update<R()>& update) {
    return start_update(id, update).result();
  }
  /// Asks, and runs until idle.
  template <class R, class A, class In = A>
  R query(std::string_view id, const Query<R(A)>& query, In&& input) {
    perdure::detail::check_input<A, In>();
    const std::string what = perdure::detail::input_of_message("query", query.name());
    return perdure::detail::decode<R>(
        query_text(id, query.name(), encoded<A>(std::forward<In>(input), what)),
        perdure::detail::result_of_message("query", query.name()));
  }
  template <class R>
  R query(std::string_view id, const Query<R()>& query) {
    return perdure::detail::decode<R>(query_text(id, query.name(), "null"),
                                      perdure::detail::result_of_message("query", query.name()));
  }

  CancelResult cancel(std::string_view id, std::string_view reason);
  CancelResult terminate(std::string_view id, std::string_view reason);

  // Time.
  /// Runs turns, activities and housekeeping until nothing is left to do now.
  void run_until_idle();
  /// Moves time, stopping at every moment at which something is due and running until idle there.
  void advance(Duration time);
  TimePoint now() const;

  // What activities do.
  /// From now on calls of `activity` run `handler` (as with `Registry::add`); it need not be
  /// registered.
  template <class R, class... A, class F>
  void fake(const Activity<R(A...)>& activity, F handler) {
    Registry scratch;
    scratch.add(activity, std::move(handler));
    replace(activity.name(), *scratch.table()->find_activity(activity.name()));
  }
  /// The next `attempts` attempts of `activity` fail so; its handler does not run.
  template <class R, class... A>
  void fail_next(const Activity<R(A...)>& activity, int attempts, Failure failure) {
    fail_attempts(activity.name(), attempts, std::move(failure));
  }

  // What the store does.
  /// The next `commits` commits of turns fail.
  void fail_next_commits(int commits, CommitFault fault = CommitFault::kRefused);
  /// The next `attempts` outcomes of handlers are lost as if the process had died: the claim lapses
  /// after 30 s, then the attempt is made again.
  void lose_next_claims(int attempts);
  /// True (the default): frames are thrown away after every turn. False: they are kept.
  void evict_after_every_turn(bool evict);
  /// Runs the rest with other code, as after a deployment; fakes stay. Not from inside a handler
  /// (std::logic_error).
  void deploy(const Registry& registry);

  // What is there.
  RunStatus status(std::string_view id) const;  ///< NotFound
  /// Of an execution; 0: of the current one.
  std::vector<RecordedEvent> history(std::string_view id, std::int64_t execution = 0) const;
  /// The same as JSON text, in the format of docs/history-json.md: for a file beside the tests,
  /// that `Replayer` checks later code against.
  std::string history_json(std::string_view id, std::int64_t execution = 0) const;
  Queued queued() const;

 private:
  template <class T, class In>
  std::string encoded(In&& given, const std::string& what) const {
    return perdure::detail::encode_given<T>(std::forward<In>(given), what, max_payload_bytes_);
  }
  template <class R, class A, class In>
  std::string input_text(const Orchestration<R(A)>& orchestration, In&& input) const {
    perdure::detail::check_input<A, In>();
    return encoded<A>(std::forward<In>(input), perdure::detail::input_of(orchestration.name()));
  }
  template <class T, class In>
  std::string signal_payload(const Signal<T>& signal, In&& payload) const {
    perdure::detail::check_payload<T, In>();
    return encoded<T>(std::forward<In>(payload),
                      perdure::detail::input_of_message("signal", signal.name()));
  }
  template <class R, class A, class In>
  std::string update_input(const Update<R(A)>& update, In&& input) const {
    perdure::detail::check_input<A, In>();
    return encoded<A>(std::forward<In>(input),
                      perdure::detail::input_of_message("update", update.name()));
  }
  void start_text(std::string_view name,
                  std::string_view id,
                  std::string input,
                  const StartOptions& options);
  EventDelivered raise_text(std::string_view id,
                            std::string_view name,
                            std::string payload,
                            Duration delay);
  void signal_text(std::string_view id, std::string_view name, std::string payload, Duration delay);
  void start_with_signal_text(std::string_view name,
                              std::string_view id,
                              std::string input,
                              std::string_view signal,
                              std::string payload);
  detail::MadeUpdate start_with_update_text(std::string_view name,
                                            std::string_view id,
                                            std::string input,
                                            std::string_view update,
                                            std::string payload,
                                            std::string_view update_id);
  detail::MadeUpdate update_text(std::string_view id,
                                 std::string_view name,
                                 std::string payload,
                                 std::string_view update_id);
  std::string query_text(std::string_view id, std::string_view name, std::string payload);
  void replace(std::string_view name, perdure::detail::ActivityHandler handler);
  void fail_attempts(std::string_view name, int attempts, Failure failure);

  std::size_t max_payload_bytes_;
  std::unique_ptr<detail::TestEngine> engine_;
};

}  // namespace perdure::testing
