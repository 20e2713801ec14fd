#pragma once

#include <functional>
#include <string>

#include "base/thread_probe.h"

namespace perdure::runtime {

/// A turn that was abandoned, on the thread that is stuck in it.
struct StuckTurn {
  std::string instance_id;
  std::string orchestration;
  std::string queue;
  ThreadRef thread;
};

/// Called once for each turn that is abandoned, on the thread of its dispatcher. What it answers is
/// called on the stuck thread when the turn returns after all, and must not throw. Both may be
/// empty.
using OnStuck = std::function<std::function<void()>(const StuckTurn&)>;

}  // namespace perdure::runtime
