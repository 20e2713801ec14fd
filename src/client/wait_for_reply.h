#pragma once

#include <string>

#include "client/call_time.h"
#include "provider/provider.h"

namespace perdure::client {

/// Sleeps until a request to run `id` has got so far, woken by the store, and answers its state:
/// accepted or final, or (`only_final`) final. Throws Unavailable when the time has passed, which
/// says how far it was; NotFound when its row is gone.
RequestState wait_for_reply(Provider& store,
                            const std::string& id,
                            const RequestQuery& request,
                            bool only_final,
                            const CallTime& time);

/// Throws NotFound, RunEnded or UnknownHandler unless the signal reached the run.
void check_signaled(EventDelivery delivery, const std::string& id, const std::string& signal);

/// Throws UnknownHandler when the run that was there does not take the message of a start.
void check_started_with(const OrchestrationStarted& started,
                        const std::string& id,
                        const std::string& message);

/// The reply of a request that was answered; throws what a caller is told of one that was not:
/// UnknownHandler, InvalidArgument (no input of the handler), RunEnded, UpdateRejected,
/// UpdateFailed, QueryFailed.
std::string reply_of(const RequestState& state, RequestKind kind);

}  // namespace perdure::client
