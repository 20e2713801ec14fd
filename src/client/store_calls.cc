#include "client/store_calls.h"

#include "base/time.h"

namespace perdure::client {

namespace {

std::string in_milliseconds(Duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

bool passes(ErrorCode code) {
  const Reaction next = reaction(code);
  return next == Reaction::kRetryLater || next == Reaction::kLookThenDecide;
}

std::string gave_up(const Error& error, const CallTime& time, std::string_view advice) {
  return error.message + " (no success within " + in_milliseconds(time.timeout()) + "); " +
         std::string(advice);
}

void Trouble::wait_out(const Error& error) {
  if (!passes(error.code)) throw_error(error);
  unknown_ = unknown_ || error.code == ErrorCode::kCommitUnknown;
  if (!time_.passed()) return backoff_.pause(time_);
  if (unknown_) {
    throw_error(commit_unknown(gave_up(
        error,
        time_,
        "repeat it with request_id '" + request_id_ + "': what took place is not done again")));
  }
  throw_error(unavailable(gave_up(error, time_, advice_)));
}

}  // namespace perdure::client
