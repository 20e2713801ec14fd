#include "client/wait_for_reply.h"

#include <perdure/errors.h>

#include "client/store_calls.h"

namespace perdure::client {

namespace {

[[noreturn]] void throw_not_answered(const std::string& id,
                                     const RequestQuery& request,
                                     const RequestState& state,
                                     Duration timeout) {
  const bool accepted = state.stage == RequestStage::kAccepted;
  std::string text = std::string(to_string(request.kind)) + " '" + request.request + "' of run '" +
                     id + "' was not " + (accepted ? "done" : "taken") + " within " +
                     std::to_string(std::chrono::ceil<std::chrono::milliseconds>(timeout).count()) +
                     " ms";
  text += accepted ? "." : ": is there a worker that serves the run?";
  if (request.kind == RequestKind::kUpdate) {
    text += " It goes on; wait for it by its id, or send it again under the same id";
  }
  throw Unavailable(text);
}

}  // namespace

RequestState wait_for_reply(Provider& store,
                            const std::string& id,
                            const RequestQuery& request,
                            bool only_final,
                            const CallTime& time) {
  for (;;) {
    Interest interest;
    interest.after = store.change_mark();
    RequestState state = read(time, [&] { return store.get_request(request); });
    if (is_final(state.stage) || (!only_final && state.stage == RequestStage::kAccepted)) {
      return state;
    }
    interest.run = request.instance;
    sleep_until_changed(
        store, interest, time, [&] { throw_not_answered(id, request, state, time.timeout()); });
  }
}

void check_signaled(EventDelivery delivery, const std::string& id, const std::string& signal) {
  switch (delivery) {
    case EventDelivery::kNotFound:
    case EventDelivery::kBuffered:
      throw NotFound("there is no run '" + id + "'; signal_with_start starts one with it");
    case EventDelivery::kEnded:
      throw RunEnded("run '" + id + "' has ended: it takes no signals");
    case EventDelivery::kUnknown:
      throw UnknownHandler("run '" + id + "' takes no signal '" + signal +
                           "': no worker that serves it declares one");
    case EventDelivery::kDelivered:
      return;
  }
}

void check_started_with(const OrchestrationStarted& started,
                        const std::string& id,
                        const std::string& message) {
  if (started.unknown_signal) check_signaled(EventDelivery::kUnknown, id, message);
}

std::string reply_of(const RequestState& state, RequestKind kind) {
  if (state.stage == RequestStage::kAnswered) return state.reply;
  const Failure& failure = state.failure;
  // What the engine says has its own stages: user code may throw a failure of any type.
  const bool refused = state.stage == RequestStage::kRefused;
  if (refused || state.stage == RequestStage::kCut) {
    if (failure.type == kRunEndedFailure) throw RunEnded(failure.message);
    if (failure.type == kUnknownHandlerFailure) throw UnknownHandler(failure.message);
    if (failure.type == kBadInputFailure) throw InvalidArgument(failure.message);
  }
  if (kind == RequestKind::kQuery) throw QueryFailed(failure);
  if (refused || state.stage == RequestStage::kRejected) throw UpdateRejected(failure);
  throw UpdateFailed(failure);
}

}  // namespace perdure::client
