#include "runtime/forced_exit.h"

#include <algorithm>
#include <exception>
#include <stop_token>
#include <utility>

#include "base/log.h"

namespace perdure::runtime {

ForcedExit::ForcedExit(Duration timeout, std::function<void()> act) {
  if (timeout <= Duration::zero()) return;
  try {
    thread_ = std::jthread([this, timeout, act = std::move(act)](const std::stop_token& done) {
      {
        std::unique_lock lock(mutex_);
        over_.wait_for(lock, done, std::min(timeout, kLongestWait), [] { return false; });
      }
      if (!done.stop_requested()) act();
    });
  } catch (const std::exception& error) {
    log::error("no thread that could end what does not end in time", {{"error", error.what()}});
  }
}

}  // namespace perdure::runtime
