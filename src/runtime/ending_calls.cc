#include "runtime/ending_calls.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace perdure::runtime {

using std::chrono::milliseconds;

std::optional<EndingCalls::Id> EndingCalls::begin(std::function<void()> give_up) {
  const std::lock_guard lock(mutex_);
  if (over_) return std::nullopt;
  calls_.emplace(++last_id_, std::move(give_up));
  return last_id_;
}

void EndingCalls::end(Id id) {
  std::function<void()> unused;  // destroyed outside the lock
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  unused = std::move(found->second);
  calls_.erase(found);
}

void EndingCalls::bound(Time until) {
  const std::lock_guard lock(mutex_);
  until_ = until;
}

CallOptions EndingCalls::within_bound(CallOptions options) const {
  const std::lock_guard lock(mutex_);
  if (until_ == Time::max()) return options;
  const auto left = std::chrono::ceil<milliseconds>(until_ - steady_now());
  options.timeout = std::clamp(left, milliseconds(0), std::max(milliseconds(0), options.timeout));
  return options;
}

void EndingCalls::end_all() {
  std::unordered_map<Id, std::function<void()>> calls;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    calls.swap(calls_);
  }
  for (const auto& [id, give_up] : calls) give_up();
}

}  // namespace perdure::runtime
