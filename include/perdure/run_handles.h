#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <perdure/client.h>
#include <perdure/json.h>
#include <perdure/outcome.h>
#include <perdure/run_status.h>
#include <perdure/time.h>

/// What a client gives for a run and for an update. Comes with client.h.
namespace perdure {

/// A run that was started or is known by its id. A light handle: destroying it changes nothing.
/// Threading: any thread. Ownership: shares the store.
template <class R>
class Run {
 public:
  Run(Client client, std::string id, std::int64_t execution = 0)
      : Run(std::move(client), Client::Started{std::move(id), execution}) {}

  const std::string& id() const { return id_; }
  /// The first execution of the run that was started; 0 for one that was found by its id.
  std::int64_t execution() const { return which_.execution; }

  /// Sleeps until this run has ended (see Client::wait), then its result; throws `RunFailed`,
  /// `RunCanceled` (also for a terminated run), or Unavailable when `timeout` has passed first.
  /// NotFound when a run that was started was deleted, also when there is a new one under its id.
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

  friend class Client;
  Run(Client client, Client::Started started)
      : client_(std::move(client)),
        id_(std::move(started.id)),
        which_{started.execution, started.key} {}

  Client client_;
  std::string id_;
  Client::Which which_;
};

/// An update that was made or is known by its id. A light handle: destroying it changes nothing.
/// Threading: any thread. Ownership: shares the store.
template <class R>
class UpdateHandle {
 public:
  UpdateHandle(Client client, Client::UpdateMade made)
      : client_(std::move(client)), made_(std::move(made)) {}

  const std::string& run_id() const { return made_.run; }
  const std::string& update_id() const { return made_.update_id; }

  /// Sleeps until it is done, then its result; throws UpdateFailed, UpdateRejected, RunEnded,
  /// NotFound (no such update, or its result is not kept any more), or Unavailable when `timeout`
  /// has passed first.
  R wait(Duration timeout) const {
    const std::string result = client_.wait_for_update(made_, true, timeout);
    if constexpr (!std::is_void_v<R>) {
      return detail::decode<R>(result, "the result of update '" + made_.update_id + "'");
    }
  }

 private:
  friend class Client;

  Client client_;
  Client::UpdateMade made_;
};

template <class R>
R Run<R>::wait(Duration timeout) const {
  const RunStatus end = client_.wait_for_end(id_, which_, timeout);
  if (end.status == ExecutionStatus::kFailed) throw RunFailed(end.failure);
  if (end.status != ExecutionStatus::kCompleted) throw RunCanceled(end.cancel_reason);
  if constexpr (!std::is_void_v<R>) return decoded(end);
}

template <class R>
Outcome<R> Run<R>::outcome(Duration timeout) const {
  const RunStatus end = client_.wait_for_end(id_, which_, timeout);
  if (end.status == ExecutionStatus::kFailed) return Outcome<R>::failed(end.failure);
  if (end.status != ExecutionStatus::kCompleted) return Outcome<R>::canceled(end.cancel_reason);
  return Outcome<R>::completed(decoded(end));
}

}  // namespace perdure
