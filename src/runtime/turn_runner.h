#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/code_batch.h"
#include "runtime/own_time.h"
#include "runtime/quarantine.h"
#include "runtime/runner_thread.h"
#include "runtime/stop_deadline.h"
#include "runtime/stuck_turn.h"

namespace perdure::runtime {

/// Runs the user code of a dispatcher and does not wait for what does not return.
///
/// A batch goes to a thread of its own in one hand-over, and the dispatcher looks at it now and
/// then while it lasts. Code whose own time (`OwnTime`) is over its limit is abandoned: its stack
/// goes to the log, its instance to the quarantine, and its thread is left to itself; the next
/// batch gets a new one. When such code returns, its thread destroys its frames, drops what it
/// decided, leaves the quarantine and ends. Nothing is abandoned while a debugger is attached.
///
/// Code that still runs at the deadline of a stop is left behind in the same way, whatever its
/// limit is and also under a debugger.
///
/// Without a limit in the batch and without a deadline to come, or when the system gives no thread,
/// code runs on the calling thread, and is waited for. Threading: one thread, that of its
/// dispatcher, but for `hurry`. Idle threads end with it, stuck ones are not waited for.
class TurnRunner {
 public:
  struct Parts {
    /// What user code refers to, shared with code that does not return: handlers, randomness.
    std::shared_ptr<const void> used = {};
    std::shared_ptr<Quarantine> quarantine = {};  ///< empty: its own
    OnStuck on_stuck = {};
    std::string queue = {};                            ///< whose turns these are
    std::shared_ptr<const StopDeadline> deadline = {};  ///< empty: nobody will stop it
  };

  struct Ran {
    /// So many have ended, in their order, or all but the last of them, which is stuck.
    std::size_t through = 0;
    /// Set: the last one was abandoned. Nothing of it may be touched. What people are told.
    std::optional<std::string> stuck;
    bool at_deadline = false;  ///< it was, because of the stop and not by its limit
  };

  explicit TurnRunner(Parts parts);

  /// Until all have ended or one was abandoned, or there is a hurry; those behind are as they were.
  /// Throws what came out of the first piece that threw, after the others.
  Ran run(CodeBatch::Pieces pieces);

  /// No further piece begins, now and later. On any thread.
  void hurry() { *hurried_ = true; }
  bool hurried() const { return *hurried_; }

  const Quarantine& quarantine() const { return *parts_.quarantine; }

 private:
  using Time = std::chrono::steady_clock::time_point;

  bool have_thread();
  Ran watch(const std::shared_ptr<CodeBatch>& batch, std::chrono::nanoseconds tick);
  Time deadline() const;
  void leave(CodeBatch& batch, const OwnTime& time, Ran& ran);
  std::chrono::nanoseconds look(CodeBatch& batch, OwnTime& time, Time meant, Ran& ran);
  bool is_over(const CodeBatch& batch,
               const CodeBatch::Look& at,
               OwnTime& time,
               std::string& stack);
  struct Finding;
  void abandon(CodeBatch& batch, std::size_t index, const Finding& finding, Ran& ran);
  std::function<void()> tell(const CodeOwner& owner, const ThreadRef& thread) noexcept;

  Parts parts_;
  const std::shared_ptr<std::atomic<bool>> hurried_ = std::make_shared<std::atomic<bool>>(false);
  std::unique_ptr<RunnerThread> thread_;
  bool warned_ = false;  // that there is no thread
};

}  // namespace perdure::runtime
