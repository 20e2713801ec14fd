#include "client/wait_for_end.h"

#include <optional>

#include "client/run_values.h"
#include "client/store_calls.h"

namespace perdure::client {

namespace {

/// One wait: which run, and how far it has been followed.
class EndOfRun {
 public:
  EndOfRun(Provider& store, const WantedRun& wanted)
      : store_(store), id_(wanted.id), wanted_{wanted.execution}, key_(wanted.key) {}

  /// The status when it has ended; otherwise nullopt, with `seen()` as it stands.
  Result<std::optional<RunStatus>> look() {
    PERDURE_ASSIGN_OR_RETURN(run_, store_.get_instance(id_));
    if (key_.value == 0) key_ = run_.key;
    if (run_.key != key_) return not_found("run '" + id_ + "' was deleted");
    if (wanted_.value == 0) wanted_ = run_.current.execution;
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

RunStatus wait_for_end(Provider& store, const WantedRun& wanted, const CallTime& time) {
  EndOfRun run(store, wanted);
  for (;;) {
    // Before the look: what is committed after it ends the wait at once.
    Interest interest;
    interest.after = store.change_mark();
    if (auto end = read(time, [&run] { return run.look(); })) return std::move(*end);
    interest.run = run.key();
    sleep_until_changed(
        store, interest, time, [&] { throw_not_ended(run.seen(), time.timeout()); });
  }
}

}  // namespace perdure::client
