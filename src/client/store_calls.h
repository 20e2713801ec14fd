#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "client/call_time.h"
#include "client/throw_error.h"
#include "provider/provider.h"
#include "provider/stop_reasons.h"

/// The store as a client calls it: each call within its time, trouble with the store waited out,
/// errors thrown as those of the public API. Threading: any thread.
namespace perdure::client {

/// Trouble with the store that may be over at the next try.
bool passes(ErrorCode code);

/// What a caller is told when the time has passed and nothing can have taken place.
inline constexpr std::string_view kNothingChanged = "nothing was changed, try again";
/// The error when the time has passed: what went wrong last, for how long, and what to do.
std::string gave_up(const Error& error, const CallTime& time, std::string_view advice);

/// What becomes of a call that failed.
class Trouble {
 public:
  /// `request_id` makes a repeat safe after an unknown commit; it is named when time runs out.
  Trouble(const CallTime& time, std::string request_id, std::string_view advice = kNothingChanged)
      : time_(time), request_id_(std::move(request_id)), advice_(advice) {}

  /// Returns after a pause when the call is to be made again. Throws when a repeat would bring the
  /// same, or the time has passed: then Unavailable, which says what is known.
  void wait_out(const Error& error);

 private:
  const CallTime& time_;
  const std::string request_id_;
  const std::string advice_;
  Backoff backoff_;
  bool unknown_ = false;  // a try may have taken place
};

/// Submits a write. Its answer will be in the slot, which is shared with the store.
template <class Request>
auto submit_within(Provider& store, Request request, const CallTime& time) {
  using Answer = typename Request::Answer;
  auto slot = std::make_shared<internal::AnswerSlot<Answer>>();
  store.submit(std::move(request),
               [slot](Result<Answer> answer) { slot->put(std::move(answer)); },
               {.timeout = time.left(std::chrono::milliseconds(1))});
  return slot;
}

/// Waits for the answer to a write, as long as the time allows; CommitUnknown when the store has
/// said nothing by then.
template <class Answer>
Result<Answer> answer_within(Provider& store,
                             internal::AnswerSlot<Answer>& slot,
                             const CallTime& time) {
  // So that the store itself can say that nothing was written.
  constexpr std::chrono::milliseconds kSlack{500};
  while (!store.has_writer_thread() && !slot.filled() && store.poll_once()) {
  }
  auto answer = slot.wait_until(time.end() + kSlack);
  if (answer) return std::move(*answer);
  return commit_unknown("the store has not answered");
}

template <class Request>
Result<typename Request::Answer> call_within(Provider& store,
                                             Request request,
                                             const CallTime& time) {
  const auto slot = submit_within(store, std::move(request), time);
  return answer_within(store, *slot, time);
}

/// What handlers are told that a request stops.
template <class Request>
std::string stop_reason(const Request& request) {
  if constexpr (std::is_same_v<Request, CancelOrchestration>) {
    return request.reason.empty() ? kRunCanceled : request.reason;
  } else if constexpr (std::is_same_v<Request, TerminateOrchestration>) {
    return kRunTerminated;
  } else if constexpr (std::is_same_v<Request, StartOrchestration>) {
    return kRunReplaced;
  } else {
    return kRunDeleted;
  }
}

/// Tells the handlers of this process that the request has stopped.
template <class Request>
void tell_stopped(Provider& store, const Request& request, const typename Request::Answer& answer) {
  if constexpr (requires { answer.touched; }) {
    store.claim_listeners().tell(answer.touched, stop_reason(request));
  }
}

/// What makes a repeat of a request find the first one.
template <class Request>
const std::string& id_of(const Request& request) {
  if constexpr (std::is_same_v<Request, MakeRequest>) {
    return request.request;
  } else {
    return request.request_id;
  }
}

/// A changing call: made again, with the same request id, until it is through. Handlers of this
/// process that it stops are told at once.
template <class Request>
typename Request::Answer change(Provider& store, const Request& request, const CallTime& time) {
  Trouble trouble(time, id_of(request));
  for (;;) {
    auto answer = call_within(store, request, time);
    if (!answer.ok()) {
      trouble.wait_out(answer.error());
      continue;
    }
    tell_stopped(store, request, *answer);
    return std::move(answer).value();
  }
}

/// Sleeps until the store tells of what `interest` names; `passed()` is called, and throws, when
/// the time has passed first.
template <class Passed>
void sleep_until_changed(Provider& store,
                         Interest interest,
                         const CallTime& time,
                         Passed&& passed) {
  // Only a bound of one sleep; nothing is looked at then.
  constexpr std::chrono::milliseconds kLongestSleep = std::chrono::hours(1);
  Wake wake;
  do {
    if (time.passed()) passed();
    interest.bound = std::min(time.left(std::chrono::milliseconds(1)), kLongestSleep);
    wake = store.wait_for_change(interest);
    // Interrupted: a runtime of this process tells its own loops something.
    interest.after.interrupts = wake.mark.interrupts;
  } while (wake.reason == Wake::Reason::kBound || wake.reason == Wake::Reason::kInterrupted);
}

/// A read: `fn` gives a Result, and is called again until that is no trouble with the store.
template <class Fn>
auto read(const CallTime& time, Fn&& fn, std::string_view advice = kNothingChanged) {
  Trouble trouble(time, {}, advice);
  for (;;) {
    auto answer = fn();
    if (answer.ok()) return std::move(answer).value();
    trouble.wait_out(answer.error());
  }
}

}  // namespace perdure::client
