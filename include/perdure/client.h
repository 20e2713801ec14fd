#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <perdure/cancel_all.h>
#include <perdure/client_options.h>
#include <perdure/contracts.h>
#include <perdure/detail/given_value.h>
#include <perdure/errors.h>
#include <perdure/json.h>
#include <perdure/open.h>
#include <perdure/options.h>
#include <perdure/outcome.h>
#include <perdure/queue_state.h>
#include <perdure/removal.h>
#include <perdure/run_history.h>
#include <perdure/run_list.h>
#include <perdure/run_status.h>
#include <perdure/time.h>

namespace perdure {

template <class R>
class Run;
template <class R>
class UpdateHandle;
struct StartMessage;

/// Starts runs, talks to them and looks at them. Needs no runtime in this process: every changing
/// call is one commit, durable when it returns.
///
/// **Trouble with the store** is waited out: a call is made again until it is through or
/// `ClientOptions::call_timeout` has passed. It is never done twice: every changing call has a
/// request id (one is made when none is given), and a call that is repeated with the same request
/// id, by whomever, within a day, changes nothing and answers as the first. So after Unavailable a
/// program repeats the call with the request id that it gave, or that the message names.
///
/// Errors, thrown at the call: InvalidArgument (names the field; nothing was stored), NotFound,
/// Conflict, Unavailable (says so when it is not known whether the call took place).
/// docs/client.md has the table of all calls.
/// Threading: any thread, also from inside activities. Ownership: shares the store; a light value,
/// copies are the same client.
class Client {
 public:
  explicit Client(std::shared_ptr<Provider> store, const ClientOptions& options = {});

  /// The same client with another timeout: `client.within(2s).cancel(id, reason)`.
  Client within(Duration call_timeout) const;

  // Starting.
  /// An empty id: one is made, see `Run::id`. The input is an `A`, braces that make one, or what
  /// converts to it without losing anything: checked when compiled, as in an orchestration; an
  /// integer that does not fit is InvalidArgument.
  template <class R, class A, class In = A>
  Run<R> start(const Orchestration<R(A)>& orchestration,
               std::string_view id,
               In&& input,
               const StartOptions& options = {}) const;
  template <class R>
  Run<R> start(const Orchestration<R()>& orchestration,
               std::string_view id,
               const StartOptions& options = {}) const;
  /// A handle to whatever runs under the id; looks at nothing.
  template <class R>
  Run<R> find(std::string_view id) const;

  // Talking to runs.
  /// The payload is checked as the input of a start.
  template <detail::Payload T, class In = T>
  EventDelivered raise_event(std::string_view id,
                             const Event<T>& event,
                             In&& payload,
                             const RaiseOptions& options = {}) const {
    detail::check_payload<T, In>();
    const std::string what = detail::payload_of_event(event.name());
    return raise_text(id, event.name(), encoded<T>(std::forward<In>(payload), what), options);
  }
  EventDelivered raise_event(std::string_view id,
                             const Event<void>& event,
                             const RaiseOptions& options = {}) const {
    return raise_text(id, event.name(), "null", options);
  }

  // Talking to the handlers of runs (messages.h). Errors, besides those of all calls: RunEnded,
  // UnknownHandler. Inputs are checked as that of a start.
  /// Durable when it returns; the run takes it in the order of arrival. UnknownHandler, and nothing
  /// is stored: there are workers with the code of the run, and none of them declares the signal. A
  /// worker counts until it has ended or, dead, was taken over. When there is none, or the run has
  /// had no turn, it is stored, and kept until code has a handler for it.
  template <detail::Payload T, class In = T>
  void signal(std::string_view id,
              const Signal<T>& signal,
              In&& payload,
              const SignalOptions& options = {}) const {
    signal_text(id, signal.name(), told(signal, std::forward<In>(payload)), options);
  }
  void signal(std::string_view id,
              const Signal<void>& signal,
              const SignalOptions& options = {}) const {
    signal_text(id, signal.name(), "null", options);
  }
  /// A start and a signal in one commit. A run that is there already gets the signal, unless
  /// `options.on_conflict` says otherwise (not `cancel existing`).
  /// Such a run refuses it as `signal` does: UnknownHandler, and nothing is stored.
  template <class R, class A, detail::Payload T, class In = A, class Told = T>
  Run<R> signal_with_start(const Orchestration<R(A)>& orchestration,
                           std::string_view id,
                           In&& input,
                           const Signal<T>& signal,
                           Told&& payload,
                           const StartOptions& options = kOrUseExisting) const {
    return signaled<R>(start_of(orchestration, id, std::forward<In>(input), options),
                       signal.name(),
                       told(signal, std::forward<Told>(payload)));
  }
  template <class R, class A, class In = A>
  Run<R> signal_with_start(const Orchestration<R(A)>& orchestration,
                           std::string_view id,
                           In&& input,
                           const Signal<void>& signal,
                           const StartOptions& options = kOrUseExisting) const {
    return signaled<R>(start_of(orchestration, id, std::forward<In>(input), options),
                       signal.name(),
                       "null");
  }
  template <class R, detail::Payload T, class Told = T>
  Run<R> signal_with_start(const Orchestration<R()>& orchestration,
                           std::string_view id,
                           const Signal<T>& signal,
                           Told&& payload,
                           const StartOptions& options = kOrUseExisting) const {
    return signaled<R>(start_of(orchestration, id, options),
                       signal.name(),
                       told(signal, std::forward<Told>(payload)));
  }
  template <class R>
  Run<R> signal_with_start(const Orchestration<R()>& orchestration,
                           std::string_view id,
                           const Signal<void>& signal,
                           const StartOptions& options = kOrUseExisting) const {
    return signaled<R>(start_of(orchestration, id, options), signal.name(), "null");
  }

  /// Makes the update and waits for its result. UpdateRejected: its validator refused it;
  /// UpdateFailed: its handler failed; Unavailable: `options.timeout` has passed, the update goes
  /// on (the message names its id).
  template <class R, class A, class In = A>
  R update(std::string_view id,
           const Update<R(A)>& update,
           In&& input,
           const UpdateOptions& options = {}) const {
    return made_update<R>(
               id, update.name(), asked("update", update, std::forward<In>(input)), options)
        .wait(options.timeout);
  }
  template <class R>
  R update(std::string_view id,
           const Update<R()>& update,
           const UpdateOptions& options = {}) const {
    return made_update<R>(id, update.name(), "null", options).wait(options.timeout);
  }
  /// The same, but waits only until the run has accepted it. UpdateRejected, Unavailable: as above.
  template <class R, class A, class In = A>
  UpdateHandle<R> start_update(std::string_view id,
                               const Update<R(A)>& update,
                               In&& input,
                               const UpdateOptions& options = {}) const {
    return accepted(
        made_update<R>(
            id, update.name(), asked("update", update, std::forward<In>(input)), options),
        options);
  }
  template <class R>
  UpdateHandle<R> start_update(std::string_view id,
                               const Update<R()>& update,
                               const UpdateOptions& options = {}) const {
    return accepted(made_update<R>(id, update.name(), "null", options), options);
  }
  /// A start and an update in one commit; see `signal_with_start` and `start_update`.
  template <class U, class B, class R, class A, class In = A, class Told = B>
  UpdateHandle<U> update_with_start(const Orchestration<R(A)>& orchestration,
                                    std::string_view id,
                                    In&& input,
                                    const Update<U(B)>& update,
                                    Told&& update_input,
                                    const UpdateOptions& options = {},
                                    const StartOptions& start_options = kOrUseExisting) const {
    return begun<U>(start_of(orchestration, id, std::forward<In>(input), start_options),
                    update.name(),
                    asked("update", update, std::forward<Told>(update_input)),
                    options);
  }
  template <class U, class R, class A, class In = A>
  UpdateHandle<U> update_with_start(const Orchestration<R(A)>& orchestration,
                                    std::string_view id,
                                    In&& input,
                                    const Update<U()>& update,
                                    const UpdateOptions& options = {},
                                    const StartOptions& start_options = kOrUseExisting) const {
    return begun<U>(start_of(orchestration, id, std::forward<In>(input), start_options),
                    update.name(),
                    "null",
                    options);
  }
  template <class U, class B, class R, class Told = B>
  UpdateHandle<U> update_with_start(const Orchestration<R()>& orchestration,
                                    std::string_view id,
                                    const Update<U(B)>& update,
                                    Told&& update_input,
                                    const UpdateOptions& options = {},
                                    const StartOptions& start_options = kOrUseExisting) const {
    return begun<U>(start_of(orchestration, id, start_options),
                    update.name(),
                    asked("update", update, std::forward<Told>(update_input)),
                    options);
  }
  template <class U, class R>
  UpdateHandle<U> update_with_start(const Orchestration<R()>& orchestration,
                                    std::string_view id,
                                    const Update<U()>& update,
                                    const UpdateOptions& options = {},
                                    const StartOptions& start_options = kOrUseExisting) const {
    return begun<U>(start_of(orchestration, id, start_options), update.name(), "null", options);
  }
  /// A handle to an update that somebody made; looks at nothing.
  template <class R>
  UpdateHandle<R> find_update(std::string_view id, std::string_view update_id) const {
    return UpdateHandle<R>(*this, UpdateMade{std::string(id), std::string(update_id), 0});
  }

  /// What the run's code answers from its state, as it is between two of its turns; also of a run
  /// that has ended. QueryFailed: its handler failed; Unavailable: nobody has answered in time, as
  /// when no worker serves the run. Leaves no trace in history.
  template <class R, class A, class In = A>
  R query(std::string_view id,
          const Query<R(A)>& query,
          In&& input,
          const QueryOptions& options = {}) const {
    return detail::decode<R>(
        query_text(id, query.name(), asked("query", query, std::forward<In>(input)), options),
        detail::result_of_message("query", query.name()));
  }
  template <class R>
  R query(std::string_view id, const Query<R()>& query, const QueryOptions& options = {}) const {
    return detail::decode<R>(query_text(id, query.name(), "null", options),
                             detail::result_of_message("query", query.name()));
  }

  /// Durable when it returns, for the run and all its descendants that are not abandoned. After
  /// `changed` the only end is `canceled` (or `terminated`, by a later terminate).
  CancelResult cancel(std::string_view id,
                      std::string_view reason,
                      std::string_view request_id = {}) const;
  /// Ends the run and its descendants at once: no cleanup, no undo.
  CancelResult terminate(std::string_view id,
                         std::string_view reason,
                         std::string_view request_id = {}) const;
  /// Cancels the live runs that apply, parents before their children, each as `cancel` does:
  /// `cancel_all({.name = "import", .created_before = now - 1h}, "superseded")`. Runs that begin
  /// after the call has begun are left alone, so that it ends. With `created_before` so are those
  /// that were started anew since under an old id. (One that ends and is started anew between the
  /// look at it and its cancel is canceled, as by `cancel`.)
  ///
  /// Each cancel is durable by itself, many in a commit; a crash in the middle leaves the runs
  /// that were not reached as they are. May last long: `call_timeout` is that of each portion.
  /// Without a status in the filter all that are live apply. Errors: InvalidArgument for a status
  /// that is an end, and for a filter that means every run while `every_run` does not say so;
  /// CancelAllStopped, which tells what was done, when the store fails on the way.
  RunsCanceled cancel_all(const RunFilter& filter,
                          std::string_view reason,
                          const CancelAllOptions& options = {}) const;
  /// What the same call of `cancel_all` would do now. Only reads. Errors: as there, but plain
  /// Unavailable.
  CancelPreview preview_cancel_all(const RunFilter& filter,
                                   const CancelAllOptions& options = {}) const;

  // Looking at runs.
  /// Of an execution; 0: of the current one.
  RunStatus status(std::string_view id, std::int64_t execution = 0) const;
  /// Sleeps until the run has ended; Unavailable when `timeout` has passed first (zero: looks
  /// once). Woken, not polled, also when another process ends the run. A run that continues as new
  /// is waited for further; one that is started anew under the same id is another run. NotFound
  /// when it is deleted meanwhile. Trouble with the store is waited out up to the timeout.
  RunStatus wait(std::string_view id, Duration timeout) const {
    return wait_for_end(id, {}, timeout);
  }
  RunPage list(const RunFilter& filter = {}, const PageOptions& page = {}) const;
  RunTree tree(std::string_view id, const TreeOptions& options = {}) const;
  HistoryEvents history(std::string_view id, const HistoryOptions& options = {}) const;
  /// The whole history of an execution (0: of the current one) in the format of
  /// docs/history-json.md, as `Replayer::check` takes it.
  std::string history_json(std::string_view id, std::int64_t execution = 0) const;
  QueueStates queues() const;

  // Taking runs out.
  /// With all its descendants. Conflict, and nothing is deleted: a live run among them and no
  /// `force`, or a child of a run that exists.
  RunDeleted remove(std::string_view id, const DeleteOptions& options = {}) const;
  /// Ended runs that apply, those that ended first first. Never touches a live run.
  RunsDeleted remove_ended(const DeleteFilter& filter) const;
  /// Ended executions of one run, oldest first.
  ExecutionsRemoved prune(std::string_view id, const PruneOptions& options = {}) const;

 private:
  template <class R>
  friend class Run;
  template <class R>
  friend class UpdateHandle;

  static constexpr StartOptions kOrUseExisting{.on_conflict = OnConflict::kUseExisting};

  struct Started {
    std::string id;
    std::int64_t execution = 0;
    std::int64_t key = 0;  ///< of the run in the store
  };
  /// Which run of an id.
  struct Which {
    std::int64_t execution = 0;  ///< that it began with; 0: the one that is current now
    std::int64_t key = 0;        ///< 0: not known
  };
  /// A start without its types.
  struct StartText {
    std::string_view name;
    std::string_view id;
    std::string input;
    const StartOptions& options;
  };
  /// An update in the store.
  struct UpdateMade {
    std::string run;
    std::string update_id;
    std::int64_t run_key = 0;  ///< 0: not looked up yet
  };

  template <class T, class In>
  std::string encoded(In&& given, const std::string& what) const {
    return detail::encode_given<T>(std::forward<In>(given), what, options_.max_payload_bytes);
  }
  /// JSON text of what is told or asked, and of a start.
  template <class T, class In>
  std::string told(const Signal<T>& signal, In&& payload) const {
    detail::check_payload<T, In>();
    return encoded<T>(std::forward<In>(payload), detail::input_of_message("signal", signal.name()));
  }
  template <class Contract, class In>
  std::string asked(std::string_view kind, const Contract& contract, In&& input) const {
    using A = typename Contract::Input;
    detail::check_input<A, In>();
    return encoded<A>(std::forward<In>(input), detail::input_of_message(kind, contract.name()));
  }
  template <class R, class A, class In>
  StartText start_of(const Orchestration<R(A)>& orchestration,
                     std::string_view id,
                     In&& input,
                     const StartOptions& options) const {
    detail::check_input<A, In>();
    const std::string_view name = orchestration.name();
    return {name, id, encoded<A>(std::forward<In>(input), detail::input_of(name)), options};
  }
  template <class R>
  StartText start_of(const Orchestration<R()>& orchestration,
                     std::string_view id,
                     const StartOptions& options) const {
    return {orchestration.name(), id, "null", options};
  }
  template <class R>
  Run<R> signaled(const StartText& start, std::string_view signal, std::string payload) const {
    Started started = signal_with_start_text(start, signal, std::move(payload));
    return Run<R>(*this, std::move(started));
  }
  template <class U>
  UpdateHandle<U> begun(const StartText& start,
                        std::string_view update,
                        std::string payload,
                        const UpdateOptions& options) const {
    UpdateHandle<U> made(*this,
                         update_with_start_text(start, update, std::move(payload), options));
    return accepted(std::move(made), options);
  }
  template <class R>
  UpdateHandle<R> made_update(std::string_view id,
                              std::string_view name,
                              std::string payload,
                              const UpdateOptions& options) const {
    return UpdateHandle<R>(*this, update_text(id, name, std::move(payload), options));
  }
  template <class R>
  UpdateHandle<R> accepted(UpdateHandle<R> update, const UpdateOptions& options) const {
    wait_for_update(update.made_, false, options.timeout);
    return update;
  }
  Started start_text(std::string_view name,
                     std::string_view id,
                     std::string input,
                     const StartOptions& options,
                     const StartMessage* with = nullptr) const;
  Started signal_with_start_text(const StartText& start,
                                 std::string_view signal,
                                 std::string payload) const;
  void signal_text(std::string_view id,
                   std::string_view name,
                   std::string payload,
                   const SignalOptions& options) const;
  UpdateMade update_text(std::string_view id,
                         std::string_view name,
                         std::string payload,
                         const UpdateOptions& options) const;
  UpdateMade update_with_start_text(const StartText& start,
                                    std::string_view update,
                                    std::string payload,
                                    const UpdateOptions& options) const;
  /// Waits until the update is accepted, or (`completed`) for its result, as JSON text.
  std::string wait_for_update(const UpdateMade& made, bool completed, Duration timeout) const;
  std::string query_text(std::string_view id,
                         std::string_view name,
                         std::string payload,
                         const QueryOptions& options) const;
  EventDelivered raise_text(std::string_view id,
                            std::string_view name,
                            std::string payload,
                            const RaiseOptions& options) const;
  RunStatus wait_for_end(std::string_view id, const Which& run, Duration timeout) const;

  ClientOptions options_;
  std::shared_ptr<Provider> store_;
};

template <class R, class A, class In>
Run<R> Client::start(const Orchestration<R(A)>& orchestration,
                     std::string_view id,
                     In&& input,
                     const StartOptions& options) const {
  detail::check_input<A, In>();
  const std::string_view name = orchestration.name();
  Started started =
      start_text(name, id, encoded<A>(std::forward<In>(input), detail::input_of(name)), options);
  return Run<R>(*this, std::move(started));
}

template <class R>
Run<R> Client::start(const Orchestration<R()>& orchestration,
                     std::string_view id,
                     const StartOptions& options) const {
  Started started = start_text(orchestration.name(), id, "null", options);
  return Run<R>(*this, std::move(started));
}

template <class R>
Run<R> Client::find(std::string_view id) const {
  return Run<R>(*this, std::string(id));
}

}  // namespace perdure

#include <perdure/run_handles.h>  // IWYU pragma: export
