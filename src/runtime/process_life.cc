#include "runtime/process_life.h"

#include <utility>

namespace perdure::runtime {

ProcessLife::ProcessLife(Parts parts, Duration interval)
    : parts_(std::move(parts)), interval_(interval) {}

Step ProcessLife::poll_once(SteadyTime now) {
  if (now < due_) return {};
  // An idle process looks again when the next beat would be due, in memory alone.
  due_ = now + interval_;
  if (!wanted_ && !parts_.holds()) return {};
  const Result<std::int64_t> beaten = parts_.provider.heartbeat_process({.epoch = parts_.epoch});
  if (!beaten.ok()) return {.trouble = beaten.error()};
  ++beats_;
  return {.worked = true};
}

}  // namespace perdure::runtime
