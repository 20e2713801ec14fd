#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <perdure/client_options.h>
#include <perdure/contracts.h>
#include <perdure/errors.h>
#include <perdure/json.h>
#include <perdure/open.h>
#include <perdure/options.h>
#include <perdure/outcome.h>
#include <perdure/run_status.h>
#include <perdure/time.h>

namespace perdure {

class Client;

/// A run that was started or is known by its id. A light handle: destroying it changes nothing.
/// Threading: any thread. Must not outlive its client.
template <class R>
class Run {
 public:
  Run(const Client& client, std::string id) : client_(&client), id_(std::move(id)) {}

  const std::string& id() const { return id_; }

  /// Sleeps until the run has ended, then its result; throws `RunFailed`, `RunCanceled` (also for a
  /// terminated run), or Unavailable when `timeout` has passed first. Woken, not polled, also for
  /// runs of other processes.
  R wait(Duration timeout) const;
  /// The same as a value; throws only Unavailable and NotFound.
  Outcome<R> outcome(Duration timeout) const;
  /// As it stands.
  RunStatus status() const;

 private:
  detail::Stored<R> decoded(const RunStatus& end) const {
    return detail::decode<R>(end.output.dump(), "the result of run '" + id_ + "'");
  }

  const Client* client_;
  std::string id_;
};

/// Starts runs, talks to them and looks at them. Needs no runtime in this process: every changing
/// call is one commit, durable when it returns. A call that is repeated with the same `request_id`
/// changes nothing and answers as the first.
///
/// Errors, thrown at the call: InvalidArgument (names the field; nothing was stored), NotFound,
/// Conflict, Unavailable (says so when it is not known whether the call took place).
/// Threading: any thread, also from inside activities. Ownership: shares the store.
class Client {
 public:
  explicit Client(std::shared_ptr<Provider> store, const ClientOptions& options = {});
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// An empty id: one is made, see `Run::id`.
  template <class R, class A>
  Run<R> start(const Orchestration<R(A)>& orchestration,
               std::string_view id,
               const std::type_identity_t<A>& input,
               const StartOptions& options = {}) const {
    return Run<R>(*this,
                  start_text(orchestration.name(),
                             id,
                             encoded(input, "the input of '", orchestration.name()),
                             options));
  }
  template <class R>
  Run<R> start(const Orchestration<R()>& orchestration,
               std::string_view id,
               const StartOptions& options = {}) const {
    return Run<R>(*this, start_text(orchestration.name(), id, "null", options));
  }
  template <class R>
  Run<R> find(std::string_view id) const {
    return Run<R>(*this, std::string(id));
  }

  /// With `buffer_for` an event for an id that is not known yet is kept that long.
  template <class T>
  EventDelivered raise_event(std::string_view id,
                             const Event<T>& event,
                             const std::type_identity_t<T>& payload,
                             Duration delay = {},
                             Duration buffer_for = {}) const {
    return raise_text(id,
                      event.name(),
                      encoded(payload, "the payload of event '", event.name()),
                      delay,
                      buffer_for);
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

  RunStatus status(std::string_view id) const;
  /// Sleeps until the run has ended; Unavailable when `timeout` has passed first.
  RunStatus wait(std::string_view id, Duration timeout) const;

 private:
  template <class T>
  std::string encoded(const T& value, const char* what, std::string_view name) const {
    return detail::encode<T>(
        value, std::string(what) + std::string(name) + "'", options_.max_payload_bytes);
  }
  std::string start_text(std::string_view name,
                         std::string_view id,
                         std::string input,
                         const StartOptions& options) const;
  EventDelivered raise_text(std::string_view id,
                            std::string_view name,
                            std::string payload,
                            Duration delay,
                            Duration buffer_for) const;

  const ClientOptions options_;
  std::shared_ptr<Provider> store_;
};

template <class R>
R Run<R>::wait(Duration timeout) const {
  const RunStatus end = client_->wait(id_, timeout);
  if (end.status == ExecutionStatus::kFailed) throw RunFailed(end.failure);
  if (end.status != ExecutionStatus::kCompleted) throw RunCanceled(end.cancel_reason);
  if constexpr (!std::is_void_v<R>) return decoded(end);
}

template <class R>
Outcome<R> Run<R>::outcome(Duration timeout) const {
  const RunStatus end = client_->wait(id_, timeout);
  if (end.status == ExecutionStatus::kFailed) return Outcome<R>::failed(end.failure);
  if (end.status != ExecutionStatus::kCompleted) return Outcome<R>::canceled(end.cancel_reason);
  return Outcome<R>::completed(decoded(end));
}

template <class R>
RunStatus Run<R>::status() const {
  return client_->status(id_);
}

}  // namespace perdure
