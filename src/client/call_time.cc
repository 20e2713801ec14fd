#include "client/call_time.h"

#include <algorithm>
#include <thread>

#include "base/clock.h"

namespace perdure::client {

namespace {

/// "For ever", and safe to add to the present.
constexpr Duration kLongest = std::chrono::hours(24) * 365;
constexpr std::chrono::milliseconds kLongestPause{250};

}  // namespace

CallTime::CallTime(Duration timeout)
    : timeout_(std::min(timeout, kLongest)), end_(steady_now() + timeout_) {}

bool CallTime::passed() const {
  return steady_now() >= end_;
}

std::chrono::milliseconds CallTime::left(std::chrono::milliseconds least) const {
  return std::max(least, std::chrono::ceil<std::chrono::milliseconds>(end_ - steady_now()));
}

void Backoff::pause(const CallTime& time) {
  std::this_thread::sleep_for(std::min(next_, time.left()));
  next_ = std::min(2 * next_, kLongestPause);
}

}  // namespace perdure::client
