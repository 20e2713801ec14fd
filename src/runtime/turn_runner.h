#pragma once

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
/// Without a limit in the batch, or when the system gives no thread, code runs on the calling
/// thread. Threading: one thread, that of its dispatcher. Idle threads end with it, stuck ones are
/// not waited for.
class TurnRunner {
 public:
  struct Parts {
    /// What user code refers to, shared with code that does not return: handlers, randomness.
    std::shared_ptr<const void> used = {};
    std::shared_ptr<Quarantine> quarantine = {};  ///< empty: its own
    OnStuck on_stuck = {};
  };

  struct Ran {
    /// So many have ended, in their order, or all but the last of them, which is stuck.
    std::size_t through = 0;
    /// Set: the last one was abandoned. Nothing of it may be touched. What people are told.
    std::optional<std::string> stuck;
  };

  explicit TurnRunner(Parts parts);

  /// Until all have ended or one was abandoned; those behind it are as they were. Throws what came
  /// out of the first piece that threw, after the others.
  Ran run(CodeBatch::Pieces pieces);

  const Quarantine& quarantine() const { return *parts_.quarantine; }

 private:
  using Time = std::chrono::steady_clock::time_point;

  bool have_thread();
  Ran watch(const std::shared_ptr<CodeBatch>& batch, std::chrono::nanoseconds tick);
  std::chrono::nanoseconds look(CodeBatch& batch, OwnTime& time, Time meant, Ran& ran);
  bool is_over(const CodeBatch& batch,
               const CodeBatch::Look& at,
               OwnTime& time,
               std::string& stack);
  void abandon(CodeBatch& batch, std::size_t index, bool busy, const std::string& stack, Ran& ran);
  std::function<void()> tell(const CodeOwner& owner, const ThreadRef& thread) noexcept;

  Parts parts_;
  std::unique_ptr<RunnerThread> thread_;
  bool warned_ = false;  // that there is no thread
};

}  // namespace perdure::runtime
