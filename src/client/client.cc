#include <utility>

#include <perdure/client.h>

#include "client/checked_reason.h"
#include "client/made_id.h"
#include "client/run_values.h"
#include "client/start_request.h"
#include "client/store_calls.h"
#include "client/wait_for_reply.h"

namespace perdure {

Client::Client(std::shared_ptr<Provider> store, const ClientOptions& options)
    : options_(options), store_(std::move(store)) {
  check(options_);
  if (store_ == nullptr) throw InvalidArgument("store must not be null: open one with open(url)");
}

Client Client::within(Duration call_timeout) const {
  ClientOptions options = options_;
  options.call_timeout = call_timeout;
  return Client(store_, options);
}

Client::Started Client::start_text(std::string_view name,
                                   std::string_view id,
                                   std::string input,
                                   const StartOptions& options,
                                   const StartMessage* with) const {
  StartOrchestration start = client::start_request(
      name, id.empty() ? client::made_id() : std::string(id), std::move(input), options);
  start.cleanup_timeout = options_.cancel_cleanup_timeout;
  start.request_id = client::request_id_or_made(options.request_id);
  if (with != nullptr) start.with = *with;
  const auto started = client::change(*store_, start, client::CallTime(options_.call_timeout));
  if (with != nullptr) client::check_started_with(started, start.id, with->name);
  return {started.id.empty() ? std::move(start.id) : started.id,
          started.execution.value,
          started.instance.value};
}

EventDelivered Client::raise_text(std::string_view id,
                                  std::string_view name,
                                  std::string payload,
                                  const RaiseOptions& options) const {
  RaiseEvent raise;
  raise.id = std::string(id);
  raise.name = std::string(name);
  raise.payload = std::move(payload);
  raise.delay = options.delay;
  raise.buffer_for = options.buffer_for;
  raise.request_id = client::request_id_or_made(options.request_id);
  return client::event_delivered(
      client::change(*store_, raise, client::CallTime(options_.call_timeout)));
}

CancelResult Client::cancel(std::string_view id,
                            std::string_view reason,
                            std::string_view request_id) const {
  CancelOrchestration cancel;
  cancel.id = std::string(id);
  cancel.reason = client::checked_reason(reason, options_.max_payload_bytes);
  cancel.cleanup_timeout = options_.cancel_cleanup_timeout;
  cancel.request_id = client::request_id_or_made(request_id);
  const auto answer = client::change(*store_, cancel, client::CallTime(options_.call_timeout));
  return {answer.changed, answer.status};
}

CancelResult Client::terminate(std::string_view id,
                               std::string_view reason,
                               std::string_view request_id) const {
  TerminateOrchestration terminate;
  terminate.id = std::string(id);
  terminate.reason = client::checked_reason(reason, options_.max_payload_bytes);
  terminate.request_id = client::request_id_or_made(request_id);
  const auto answer = client::change(*store_, terminate, client::CallTime(options_.call_timeout));
  return {answer.changed, answer.status};
}

}  // namespace perdure
