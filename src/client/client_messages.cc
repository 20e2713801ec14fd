#include <utility>

#include <perdure/client.h>

#include "client/checked_id.h"
#include "client/made_id.h"
#include "client/start_request.h"
#include "client/store_calls.h"
#include "client/wait_for_reply.h"

namespace perdure {

namespace {

/// The store says Conflict of an update to a run that has ended.
template <class Call>
auto told_of_end(Call&& call) {
  try {
    return call();
  } catch (const Conflict& ended) {
    throw RunEnded(ended.what());
  }
}

std::string update_id_of(const UpdateOptions& options) {
  return client::checked_id("update_id", client::request_id_or_made(options.update_id));
}

}  // namespace

void Client::signal_text(std::string_view id,
                         std::string_view name,
                         std::string payload,
                         const SignalOptions& options) const {
  RaiseEvent raise;
  raise.as_signal = true;
  raise.id = std::string(id);
  raise.name = std::string(name);
  raise.payload = std::move(payload);
  raise.delay = options.delay;
  raise.request_id = client::request_id_or_made(options.request_id);
  client::check_signaled(client::change(*store_, raise, client::CallTime(options_.call_timeout)),
                         raise.id,
                         raise.name);
}

Client::Started Client::signal_with_start_text(const StartText& start,
                                               std::string_view signal,
                                               std::string payload) const {
  const StartMessage with{RequestKind::kSignal, std::string(signal), std::move(payload), {}};
  return start_text(start.name, start.id, start.input, start.options, &with);
}

Client::UpdateMade Client::update_text(std::string_view id,
                                       std::string_view name,
                                       std::string payload,
                                       const UpdateOptions& options) const {
  MakeRequest update;
  update.kind = RequestKind::kUpdate;
  update.id = std::string(id);
  update.request = update_id_of(options);
  update.name = std::string(name);
  update.payload = std::move(payload);
  const RequestState made = told_of_end(
      [&] { return client::change(*store_, update, client::CallTime(options_.call_timeout)); });
  return {std::move(update.id), std::move(update.request), made.instance.value};
}

Client::UpdateMade Client::update_with_start_text(const StartText& start,
                                                  std::string_view update,
                                                  std::string payload,
                                                  const UpdateOptions& options) const {
  std::string id = update_id_of(options);
  const StartMessage with{RequestKind::kUpdate, std::string(update), std::move(payload), id};
  const Started started = start_text(start.name, start.id, start.input, start.options, &with);
  return {started.id, std::move(id), started.key};
}

std::string Client::wait_for_update(const UpdateMade& made,
                                    bool completed,
                                    Duration timeout) const {
  const client::CallTime time(timeout);
  InstanceKey key{made.run_key};
  if (key.value == 0) {
    key = client::read(time, [&] { return store_->get_instance(made.run); }).key;
  }
  const RequestState state = client::wait_for_reply(
      *store_, made.run, {key, RequestKind::kUpdate, made.update_id}, completed, time);
  if (state.stage == RequestStage::kAccepted) return {};
  // Whoever asked whether it was accepted hears of a failure later, when it waits for the result.
  const bool was_accepted = state.stage == RequestStage::kFailed || state.stage == RequestStage::kCut;
  if (!completed && was_accepted) return {};
  return client::reply_of(state, RequestKind::kUpdate);
}

std::string Client::query_text(std::string_view id,
                               std::string_view name,
                               std::string payload,
                               const QueryOptions& options) const {
  if (options.timeout <= Duration::zero()) {
    throw InvalidArgument("timeout of a query must be greater than zero");
  }
  const client::CallTime time(options.timeout);
  MakeRequest query;
  query.kind = RequestKind::kQuery;
  query.id = std::string(id);
  query.request = client::made_id();
  query.name = std::string(name);
  query.payload = std::move(payload);
  query.expires_after = options.timeout;
  const RequestState made = client::change(*store_, query, time);
  const RequestState state = client::wait_for_reply(
      *store_, query.id, {made.instance, RequestKind::kQuery, query.request}, true, time);
  return client::reply_of(state, RequestKind::kQuery);
}

}  // namespace perdure
