#pragma once

#include <string>
#include <utility>

#include "client/call_time.h"
#include "client/throw_error.h"
#include "provider/provider.h"

/// The store as a client calls it: each call within its time, trouble with the store waited out,
/// errors thrown as those of the public API. Threading: any thread.
namespace perdure::client {

/// What becomes of a call that failed.
class Trouble {
 public:
  /// `request_id` makes a repeat safe after an unknown commit; it is named when time runs out.
  Trouble(const CallTime& time, std::string request_id)
      : time_(time), request_id_(std::move(request_id)) {}

  /// Returns after a pause when the call is to be made again. Throws when a repeat would bring the
  /// same, or the time has passed: then Unavailable, which says what is known.
  void wait_out(const Error& error);

 private:
  const CallTime& time_;
  const std::string request_id_;
  Backoff backoff_;
  bool unknown_ = false;  // a try may have taken place
};

/// Submits a write and waits for its answer, as long as the time allows; CommitUnknown when the
/// store has said nothing by then.
template <class Request>
Result<typename Request::Answer> call_within(Provider& store,
                                             Request request,
                                             const CallTime& time) {
  using Answer = typename Request::Answer;
  // So that the store itself can say that nothing was written.
  constexpr std::chrono::milliseconds kSlack{500};
  auto slot = std::make_shared<internal::AnswerSlot<Answer>>();
  store.submit(std::move(request),
               [slot](Result<Answer> answer) { slot->put(std::move(answer)); },
               {.timeout = time.left(std::chrono::milliseconds(1))});
  while (!store.has_writer_thread() && !slot->filled() && store.poll_once()) {
  }
  auto answer = slot->wait_until(time.end() + kSlack);
  if (answer) return std::move(*answer);
  return commit_unknown("the store has not answered");
}

/// A changing call: made again, with the same request id, until it is through.
template <class Request>
typename Request::Answer change(Provider& store, const Request& request, const CallTime& time) {
  Trouble trouble(time, request.request_id);
  for (;;) {
    auto answer = call_within(store, request, time);
    if (answer.ok()) return std::move(answer).value();
    trouble.wait_out(answer.error());
  }
}

/// A read: `fn` gives a Result, and is called again until that is no trouble with the store.
template <class Fn>
auto read(const CallTime& time, Fn&& fn) {
  Trouble trouble(time, {});
  for (;;) {
    auto answer = fn();
    if (answer.ok()) return std::move(answer).value();
    trouble.wait_out(answer.error());
  }
}

}  // namespace perdure::client
