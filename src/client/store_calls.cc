#include "client/store_calls.h"

#include "base/time.h"

namespace perdure::client {

namespace {

bool passes(ErrorCode code) {
  const Reaction next = reaction(code);
  return next == Reaction::kRetryLater || next == Reaction::kLookThenDecide;
}

std::string in_milliseconds(Duration time) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

void Trouble::wait_out(const Error& error) {
  if (!passes(error.code)) throw_error(error);
  unknown_ = unknown_ || error.code == ErrorCode::kCommitUnknown;
  if (!time_.passed()) return backoff_.pause(time_);
  const std::string waited = "no success within " + in_milliseconds(time_.timeout());
  if (unknown_) {
    throw_error(commit_unknown(error.message + " (" + waited + "); repeat it with request_id '" +
                               request_id_ + "': what took place is not done again"));
  }
  throw_error(unavailable(error.message + " (" + waited + "); nothing was changed, try again"));
}

}  // namespace perdure::client
