#pragma once

#include <functional>

#include "base/guarded.h"
#include "model/work_item.h"

namespace perdure::runtime {

/// Lets one suspect at a time run in this process: a row with kSuspectLosses or more may be the one
/// that kills whoever runs it, and two together could not be told apart.
/// Threading: any thread.
class Suspects {
 public:
  /// `on_release` is called after each release of a suspect that had been claimed, so that workers
  /// look for the next. From any thread; must not call back.
  explicit Suspects(std::function<void()> on_release = nullptr)
      : on_release_(std::move(on_release)) {}

  /// Before a claim that may bring one. False: one runs already, or may be on its way.
  bool reserve() {
    return taken_.with([](bool& taken) { return !std::exchange(taken, true); });
  }
  /// The claim brought none.
  void release() {
    taken_.with([](bool& taken) { taken = false; });
  }
  /// After each attempt's end was stored.
  void ended(const WorkItem& item) {
    if (item.losses < kSuspectLosses) return;
    release();
    if (on_release_) on_release_();
  }

 private:
  const std::function<void()> on_release_;
  Guarded<bool> taken_{false};
};

}  // namespace perdure::runtime
