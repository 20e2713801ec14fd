#include "client/wait_for_end.h"

#include <algorithm>
#include <optional>

#include "client/run_values.h"
#include "client/store_calls.h"

namespace perdure::client {

namespace {

/// One wait: which run, and how far it has been followed.
class EndOfRun {
 public:
  EndOfRun(Provider& store, const std::string& id, std::int64_t execution)
      : store_(store), id_(id), wanted_{execution} {}

  /// The status when it has ended; otherwise nullopt, with `seen()` as it stands.
  Result<std::optional<RunStatus>> look() {
    PERDURE_ASSIGN_OR_RETURN(run_, store_.get_instance(id_));
    if (key_.value == 0) {
      key_ = run_.key;
      if (wanted_.value == 0) wanted_ = run_.current.execution;
    }
    if (run_.key != key_) return not_found("run '" + id_ + "' was deleted while it was waited for");
    while (wanted_ < run_.current.execution) {
      const auto earlier = store_.get_execution(id_, wanted_);
      const bool pruned = !earlier.ok() && earlier.code() == ErrorCode::kNotFound;
      if (!earlier.ok() && !pruned) return earlier.error();
      if (!pruned && earlier->status != ExecutionStatus::kContinuedAsNew) return told(*earlier);
      ++wanted_.value;
    }
    if (wanted_ > run_.current.execution || !is_terminal(run_.current.status)) {
      return std::optional<RunStatus>();
    }
    return told(run_.current);
  }

  InstanceKey key() const { return key_; }
  const InstanceInfo& seen() const { return run_; }

 private:
  Result<std::optional<RunStatus>> told(const ExecutionInfo& execution) {
    PERDURE_ASSIGN_OR_RETURN(RunStatus status, run_status(store_, run_, execution));
    return std::optional<RunStatus>(std::move(status));
  }

  Provider& store_;
  const std::string& id_;
  ExecutionNo wanted_;
  InstanceKey key_;
  InstanceInfo run_;
};

[[noreturn]] void throw_not_ended(const InstanceInfo& run, Duration timeout) {
  std::string text = "run '" + run.id + "' has not ended within " +
                     std::to_string(std::chrono::ceil<std::chrono::milliseconds>(timeout).count()) +
                     " ms: it is " + std::string(to_string(run.current.status));
  if (run.current.blocked != BlockedReason::kNone) {
    text += ", blocked (" + std::string(to_string(run.current.blocked)) +
            "): " + run.current.blocked_detail;
  }
  throw_error(unavailable(text + "; wait again"));
}

}  // namespace

RunStatus wait_for_end(Provider& store,
                       const std::string& id,
                       std::int64_t execution,
                       const CallTime& time) {
  // Only a bound of one sleep; nothing is looked at then.
  constexpr std::chrono::milliseconds kLongestSleep = std::chrono::hours(1);
  EndOfRun run(store, id, execution);
  for (;;) {
    // Before the look: what is committed after it ends the wait at once.
    Interest interest;
    interest.after = store.change_mark();
    if (auto end = read(time, [&run] { return run.look(); })) return std::move(*end);
    interest.run = run.key();
    Wake wake;
    do {
      if (time.passed()) throw_not_ended(run.seen(), time.timeout());
      interest.bound = std::min(time.left(std::chrono::milliseconds(1)), kLongestSleep);
      wake = store.wait_for_change(interest);
      // Interrupted: a runtime of this process tells its own loops something.
      interest.after.interrupts = wake.mark.interrupts;
    } while (wake.reason == Wake::Reason::kBound || wake.reason == Wake::Reason::kInterrupted);
  }
}

}  // namespace perdure::client
