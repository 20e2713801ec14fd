#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <perdure/call.h>
#include <perdure/contracts.h>
#include <perdure/detail/given_value.h>
#include <perdure/detail/safe_argument.h>
#include <perdure/detail/turn_api.h>
#include <perdure/detail/use_it.h>
#include <perdure/future.h>
#include <perdure/json.h>
#include <perdure/options.h>
#include <perdure/scope.h>
#include <perdure/task.h>
#include <perdure/time.h>

namespace perdure {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

namespace detail {

template <class R>
Stored<R> take_json(Op& op) {
  const char* what = op.kind == OpKind::kEvent ? "the payload of event '" : "the result of '";
  return decode<R>(op.outcome().payload, what + op.name + "'");
}

/// What a command takes: of the right type, and safe in a `co_await` expression.
template <class A, class In>
constexpr void check_argument() {
  static_assert(kSafeArgument<In>, PERDURE_DETAIL_NAME_IT);
  check_input<A, In>();
}

/// What `co_await ctx.continue_as_new(..)` waits for: nothing that comes.
class PERDURE_DETAIL_USE_IT("co_await it: the execution ends here") Never {
 public:
  using PerdureAwaitable = void;
  Never() {}  // NOLINT(modernize-use-equals-default): must not be an aggregate
  std::suspend_always awaiter(PromiseBase&) const { return {}; }
};

}  // namespace detail

/// What an orchestration sees of the engine. A command is emitted when the call is made and
/// recorded in the commit of the turn; the future is awaited then or later.
///
/// Deterministic: the code must make the same commands in the same order when it is run again from
/// history. Time, randomness and everything else from outside come through this object.
/// Cancellation: once the scope of the running task is canceled, commands and awaits throw
/// `Canceled`, except under `shield`. Values (`now`, `uuid`, `random`, `side_effect`, `patched`,
/// `set_status`, `log`) stay available.
/// One thread: that of the turn. Lives as long as the frames of the run.
class OrchestrationContext {
 public:
  explicit OrchestrationContext(detail::TurnApi& api) : api_(api) {}
  OrchestrationContext(const OrchestrationContext&) = delete;
  OrchestrationContext& operator=(const OrchestrationContext&) = delete;

  // Activities.
  template <class R, class A, class In = A>
  Call<R> call(const Activity<R(A)>& activity, In&& input, const ActivityOptions& options = {}) {
    detail::check_argument<A, In>();
    return schedule<R>(
        activity.name(), encoded<A>(std::forward<In>(input), activity.name()), options);
  }
  template <class R>
  Call<R> call(const Activity<R()>& activity, const ActivityOptions& options = {}) {
    return schedule<R>(activity.name(), "null", options);
  }

  // Children: other orchestrations, started and awaited as calls.
  template <class R, class A, class In = A>
  Future<R> call(const Orchestration<R(A)>& child, In&& input, const ChildOptions& options = {}) {
    detail::check_argument<A, In>();
    return start_child<R>(child.name(), encoded<A>(std::forward<In>(input), child.name()), options);
  }
  template <class R>
  Future<R> call(const Orchestration<R()>& child, const ChildOptions& options = {}) {
    return start_child<R>(child.name(), "null", options);
  }

  /// Starts a run of its own: no parent link, no answer. An id that is taken is left alone.
  template <class R, class A, class In = A>
  void start_detached(const Orchestration<R(A)>& run,
                      std::string_view id,
                      In&& input,
                      const DetachedOptions& options = {}) {
    detail::check_argument<A, In>();
    api_.start_detached({run.name(), id, encoded<A>(std::forward<In>(input), run.name()), options});
  }
  template <class R>
  void start_detached(const Orchestration<R()>& run,
                      std::string_view id,
                      const DetachedOptions& options = {}) {
    api_.start_detached({run.name(), id, "null", options});
  }

  // Time and events.
  Future<void> timer(Duration delay) { return {api_.start_timer(delay), &detail::take_nothing}; }
  Future<void> timer_at(TimePoint due) { return {api_.start_timer_at(due), &detail::take_nothing}; }
  /// The next event of that name, in the order of arrival, also one that came before the wait.
  template <class T>
  Future<T> wait_for(const Event<T>& event) {
    return {api_.wait_for_event(event.name()), &detail::take_json<T>};
  }

  /// Until `condition` holds: looked at now, and after every event until nothing moves any more, in
  /// the order of the waits (outside of handlers: behind the last signal or update of a turn);
  /// whoever wakes finds it true. For state that handlers or other tasks of
  /// the run change: `co_await ctx.until([&] { return state.approved; })`, or with a timer in
  /// `when_any`. It reads and makes no commands (InvalidArgument); what it throws comes out of the
  /// await. Recorded nowhere: a replay evaluates it again.
  template <class F>
  Future<void> until(F&& condition) {
    static_assert(detail::kSafeCallable<F>, PERDURE_DETAIL_NAME_IT);
    static_assert(std::is_same_v<std::invoke_result_t<F&>, bool>,
                  "perdure: a condition is called as bool()");
    return {api_.wait_until(std::function<bool()>(std::forward<F>(condition))),
            &detail::take_nothing};
  }

  // Structure.
  /// Runs a task beside the caller, a sibling of main: its failure fails the run. Tasks still
  /// running when main ends are canceled then and joined.
  template <class T>
  Future<T> spawn(Task<T> task) {
    return detail::spawn(api_, std::move(task), detail::SpawnAs::kSibling, {});
  }
  /// Runs a task that a cancel does not reach: cleanup. Ends with the run's
  /// `cancel_cleanup_timeout` at the latest.
  template <class T>
  Future<T> shield(Task<T> task) {
    return detail::spawn(api_, std::move(task), detail::SpawnAs::kShield, {});
  }
  /// A scope below that of the running task, for parts that are canceled together.
  Scope scope() { return Scope(api_, api_.open_scope()); }

  /// Ends this execution and begins the next one of the same instance with a new input; its
  /// history starts empty. `co_await` it: it never comes back. Events that nobody has read
  /// and signals that nobody has taken are carried over, and so are updates that were not accepted;
  /// handlers that run end first (`handler_drain_timeout`). `self` is this orchestration's own
  /// contract (InvalidArgument otherwise, and in a message handler: main alone decides it).
  template <class R, class A, class In = A>
  detail::Never continue_as_new(const Orchestration<R(A)>& self,
                                In&& input,
                                std::string_view version = {}) {
    detail::check_argument<A, In>();
    check_self(self.name());
    return begin_next(encoded<A>(std::forward<In>(input), self.name()), version);
  }
  template <class R>
  detail::Never continue_as_new(const Orchestration<R()>& self, std::string_view version = {}) {
    check_self(self.name());
    return begin_next("null", version);
  }

  // Recorded values: the same in every replay, without a round trip.
  TimePoint now() const { return api_.now(); }
  std::string uuid() { return api_.make_uuid(); }
  std::uint64_t random() { return api_.make_random(); }
  /// Runs `make` once and records its result. For what is quick; everything else is an activity.
  /// Not run again in a replay, so it makes no commands (InvalidArgument). What it throws is
  /// recorded too and comes out as `Failed`; a result that JSON cannot carry as `InvalidArgument`.
  /// Not for destructors.
  template <class F>
  auto side_effect(F&& make) {
    static_assert(detail::kSafeCallable<F>, PERDURE_DETAIL_NAME_IT);
    using T = std::invoke_result_t<F&>;
    const std::string what = "a side effect";
    const std::string recorded = api_.record(
        "side_effect", [&] { return detail::encode<T>(make(), what, api_.max_payload_bytes()); });
    return detail::decode<T>(recorded, what);
  }
  /// True in runs that began, or came here, after the code asked for this patch; false in those
  /// that passed here before. The answer is recorded and stays for the life of the execution.
  bool patched(std::string_view id) { return api_.patched(id); }

  /// Shown beside the status of the run.
  template <class T>
  void set_status(T&& status) {
    static_assert(detail::kSafeArgument<T>, PERDURE_DETAIL_NAME_IT);
    api_.set_custom_status(detail::encode<std::remove_cvref_t<T>>(
        status, "the custom status", api_.max_payload_bytes()));
  }

  /// Storage of the run: made on first use, the same object in every task of it, gone with the
  /// frames (so it is filled again in a replay). In place of thread-local variables.
  template <class T>
  T& local() {
    static constexpr char kKey = 0;
    std::shared_ptr<void>& slot = api_.local(&kKey);
    if (!slot) slot = std::make_shared<T>();
    return *static_cast<T*>(slot.get());
  }

  /// Written once, after the commit of the turn; never again in a replay.
  void log(std::string_view line) { log(LogLevel::kInfo, line); }
  void log(LogLevel level, std::string_view line) {
    api_.log(static_cast<int>(level), std::string(line));
  }

  // What the run is.
  bool is_replaying() const { return api_.is_replaying(); }
  const std::string& instance_id() const { return api_.instance_id(); }
  const std::string& name() const { return api_.orchestration(); }
  const std::string& version() const { return api_.version(); }  ///< as the code is registered
  std::int64_t execution() const { return api_.execution(); }
  /// Of the running task's scope; for loops that make no commands. Inside a shield: false, empty.
  bool is_canceled() const { return api_.is_canceled(); }
  const std::string& cancel_reason() const { return api_.cancel_reason(); }

 private:
  template <class A, class In>
  std::string encoded(In&& input, std::string_view called) {
    return detail::encode_given<A>(
        std::forward<In>(input), detail::input_of(called), api_.max_payload_bytes());
  }
  template <class R>
  Call<R> schedule(std::string_view name, std::string input, const ActivityOptions& options) {
    return {api_.call_activity({name, std::move(input), options}), &detail::take_json<R>};
  }
  template <class R>
  Future<R> start_child(std::string_view name, std::string input, const ChildOptions& options) {
    return {api_.call_child({name, std::move(input), options}), &detail::take_json<R>};
  }
  detail::Never begin_next(std::string input, std::string_view version) {
    api_.continue_as_new(std::move(input),
                         version.empty() ? std::nullopt : std::optional<std::string>(version));
    return {};
  }
  void check_self(std::string_view called) const {
    if (called == name()) return;
    throw InvalidArgument("continue_as_new: '" + std::string(called) +
                          "' is not this orchestration: it is '" + name() + "'");
  }

  detail::TurnApi& api_;
};

}  // namespace perdure
