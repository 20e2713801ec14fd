#include <utility>

#include <perdure/testing.h>

#include "client/made_id.h"
#include "client/start_request.h"
#include "client/throw_error.h"
#include "client/wait_for_reply.h"
#include "testing/test_engine.h"

namespace perdure::testing {

namespace {

RequestState state_of(detail::TestEngine& engine,
                      RequestKind kind,
                      const detail::MadeUpdate& made) {
  return or_throw(engine.provider().get_request({InstanceKey{made.run_key}, kind, made.update_id}));
}

detail::MadeUpdate make_request(detail::TestEngine& engine, MakeRequest request) {
  const std::string id = request.request;
  const bool update = request.kind == RequestKind::kUpdate;
  const Result<RequestState> made = engine.provider().make_request(std::move(request));
  if (update && !made.ok() && made.code() == ErrorCode::kConflict) {
    throw RunEnded(made.error().message);
  }
  return {or_throw(made).instance.value, id};
}

/// Starts a run with a message, or brings the message to the one that is there.
OrchestrationStarted start_with(detail::TestEngine& engine,
                                std::string_view name,
                                std::string_view id,
                                std::string input,
                                StartMessage with) {
  StartOrchestration start =
      client::start_request(name, id, std::move(input), {.on_conflict = OnConflict::kUseExisting});
  start.cleanup_timeout = engine.options().cleanup_timeout;
  const std::string message = with.name;
  start.with = std::move(with);
  const auto started = or_throw(engine.provider().start_orchestration(start));
  client::check_started_with(started, start.id, message);
  return started;
}

/// Runs until idle; Conflict when nobody has answered by then.
std::string answered(detail::TestEngine& engine, RequestKind kind, const detail::MadeUpdate& made) {
  engine.run_until_idle();
  const RequestState state = state_of(engine, kind, made);
  if (!is_final(state.stage)) {
    throw Conflict(std::string(to_string(kind)) + " '" + made.update_id + "' is not done: it is " +
                   std::string(to_string(state.stage)) +
                   "; advance the time, raise the event, or fake the activity");
  }
  return client::reply_of(state, kind);
}

}  // namespace

namespace detail {

std::string result_of(TestEngine& engine, const MadeUpdate& update) {
  return answered(engine, RequestKind::kUpdate, update);
}

std::string stage_of(TestEngine& engine, const MadeUpdate& update) {
  return std::string(to_string(state_of(engine, RequestKind::kUpdate, update).stage));
}

}  // namespace detail

void TestRuntime::signal_text(std::string_view id,
                              std::string_view name,
                              std::string payload,
                              Duration delay) {
  RaiseEvent raise;
  raise.as_signal = true;
  raise.id = std::string(id);
  raise.name = std::string(name);
  raise.payload = std::move(payload);
  raise.delay = delay;
  client::check_signaled(
      or_throw(engine_->provider().raise_event(raise)), raise.id, raise.name);
}

void TestRuntime::start_with_signal_text(std::string_view name,
                                         std::string_view id,
                                         std::string input,
                                         std::string_view signal,
                                         std::string payload) {
  start_with(*engine_,
             name,
             id,
             std::move(input),
             {RequestKind::kSignal, std::string(signal), std::move(payload), {}});
}

detail::MadeUpdate TestRuntime::start_with_update_text(std::string_view name,
                                                       std::string_view id,
                                                       std::string input,
                                                       std::string_view update,
                                                       std::string payload,
                                                       std::string_view update_id) {
  std::string made = client::request_id_or_made(update_id);
  const auto started =
      start_with(*engine_,
                 name,
                 id,
                 std::move(input),
                 {RequestKind::kUpdate, std::string(update), std::move(payload), made});
  return {started.instance.value, std::move(made)};
}

detail::MadeUpdate TestRuntime::update_text(std::string_view id,
                                            std::string_view name,
                                            std::string payload,
                                            std::string_view update_id) {
  MakeRequest update;
  update.kind = RequestKind::kUpdate;
  update.id = std::string(id);
  update.request = client::request_id_or_made(update_id);
  update.name = std::string(name);
  update.payload = std::move(payload);
  return make_request(*engine_, std::move(update));
}

std::string TestRuntime::query_text(std::string_view id,
                                    std::string_view name,
                                    std::string payload) {
  MakeRequest query;
  query.kind = RequestKind::kQuery;
  query.id = std::string(id);
  query.request = client::made_id();
  query.name = std::string(name);
  query.payload = std::move(payload);
  return answered(*engine_, RequestKind::kQuery, make_request(*engine_, std::move(query)));
}

}  // namespace perdure::testing
