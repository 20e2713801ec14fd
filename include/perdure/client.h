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

/// Starts runs, talks to them and looks at them. Needs no runtime in this process: every changing
/// call is one commit, durable when it returns.
///
/// **Trouble with the store** is waited out: a call is made again until it is through or
/// `ClientOptions::call_timeout` has passed. It is never done twice: every changing call has a
/// request id (one is made when none is given), and a call that is repeated with the same request
/// id, by whomever and whenever, changes nothing and answers as the first. So after Unavailable a
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
    return wait_for_end(id, 0, timeout);
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

  struct Started {
    std::string id;
    std::int64_t execution = 0;
  };

  template <class T, class In>
  std::string encoded(In&& given, const std::string& what) const {
    return detail::encode_given<T>(std::forward<In>(given), what, options_.max_payload_bytes);
  }
  Started start_text(std::string_view name,
                     std::string_view id,
                     std::string input,
                     const StartOptions& options) const;
  EventDelivered raise_text(std::string_view id,
                            std::string_view name,
                            std::string payload,
                            const RaiseOptions& options) const;
  /// Of the run that began with `execution`; 0: of the one that is current now.
  RunStatus wait_for_end(std::string_view id, std::int64_t execution, Duration timeout) const;

  ClientOptions options_;
  std::shared_ptr<Provider> store_;
};

/// A run that was started or is known by its id. A light handle: destroying it changes nothing.
/// Threading: any thread. Ownership: shares the store.
template <class R>
class Run {
 public:
  Run(Client client, std::string id, std::int64_t execution = 0)
      : client_(std::move(client)), id_(std::move(id)), execution_(execution) {}

  const std::string& id() const { return id_; }
  /// The first execution of the run that was started; 0 for one that was found by its id.
  std::int64_t execution() const { return execution_; }

  /// Sleeps until this run has ended (see Client::wait), then its result; throws `RunFailed`,
  /// `RunCanceled` (also for a terminated run), or Unavailable when `timeout` has passed first.
  /// `Failed` with type `bad_input` when the result is no `R`. With `on_conflict = cancel existing`
  /// it waits for the new run, not for the one that is canceled.
  R wait(Duration timeout) const;
  /// The same as a value; throws only Unavailable, NotFound and `bad_input`.
  Outcome<R> outcome(Duration timeout) const;
  /// Of whatever runs under the id now, as it stands.
  RunStatus status() const { return client_.status(id_); }

 private:
  detail::Stored<R> decoded(const RunStatus& end) const {
    return detail::decode<R>(end.output.dump(), "the result of run '" + id_ + "'");
  }

  Client client_;
  std::string id_;
  std::int64_t execution_;
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
  return Run<R>(*this, std::move(started.id), started.execution);
}

template <class R>
Run<R> Client::start(const Orchestration<R()>& orchestration,
                     std::string_view id,
                     const StartOptions& options) const {
  Started started = start_text(orchestration.name(), id, "null", options);
  return Run<R>(*this, std::move(started.id), started.execution);
}

template <class R>
Run<R> Client::find(std::string_view id) const {
  return Run<R>(*this, std::string(id));
}

template <class R>
R Run<R>::wait(Duration timeout) const {
  const RunStatus end = client_.wait_for_end(id_, execution_, timeout);
  if (end.status == ExecutionStatus::kFailed) throw RunFailed(end.failure);
  if (end.status != ExecutionStatus::kCompleted) throw RunCanceled(end.cancel_reason);
  if constexpr (!std::is_void_v<R>) return decoded(end);
}

template <class R>
Outcome<R> Run<R>::outcome(Duration timeout) const {
  const RunStatus end = client_.wait_for_end(id_, execution_, timeout);
  if (end.status == ExecutionStatus::kFailed) return Outcome<R>::failed(end.failure);
  if (end.status != ExecutionStatus::kCompleted) return Outcome<R>::canceled(end.cancel_reason);
  return Outcome<R>::completed(decoded(end));
}

}  // namespace perdure
