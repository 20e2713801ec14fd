#pragma once

#include <utility>

#include "replay/execution.h"

namespace perdure::replay {

/// While it stands, user code reads and makes no commands.
class Execution::Reading {
 public:
  Reading(Execution& run, ReadOnly what)
      : run_(run), before_(std::exchange(run.read_only_, what)) {}
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
  ~Reading() { run_.read_only_ = before_; }

 private:
  Execution& run_;
  const ReadOnly before_;
};

}  // namespace perdure::replay
