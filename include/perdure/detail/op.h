#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <perdure/detail/list.h>
#include <perdure/detail/run_bytes.h>
#include <perdure/detail/scope_state.h>
#include <perdure/failure.h>
#include <perdure/options.h>

/// Operations: what futures stand for.
namespace perdure::detail {

class TurnApi;
class Waiter;

enum class OpKind : std::uint8_t { kActivity, kTimer, kEvent, kChild, kTask, kCondition };
enum class OpState : std::uint8_t { kPending, kCompleted, kFailed, kCanceled };

/// What an operation ended with, besides its state.
struct OpOutcome : CountsRunBytes {
  OpOutcome() = default;
  OpOutcome(const OpOutcome&) = delete;
  OpOutcome& operator=(const OpOutcome&) = delete;
  ~OpOutcome() { run_bytes -= held; }

  std::string payload;
  Failure failure;
  std::string reason;     ///< of a cancel
  std::int64_t held = 0;  ///< bytes of it that are counted with the run
};

/// One thing that a run waits for, from the call to its outcome. Shared by the future that stands
/// for it and, until it is resolved, by the engine. One thread: that of the turn; so the count is
/// plain. Member of its scope's ring while it is unresolved, unless it is a task.
class Op : public ListHook, public CountsRunBytes {
 public:
  Op(TurnApi& owner, OpKind what, std::int64_t event_id, std::string called, ScopeRef home)
      : api(&owner), kind(what), event(event_id), name(std::move(called)), scope(std::move(home)) {}
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  virtual ~Op() = default;

  bool resolved() const { return state != OpState::kPending; }

  /// What it ended with; an empty one while there is none, as for a timer, which has no result.
  const OpOutcome& outcome() const {
    static const OpOutcome kEmpty;
    return outcome_ ? *outcome_ : kEmpty;
  }
  /// The same, to be written: a run asleep is small because only what has ended takes room for it.
  OpOutcome& make_outcome() {
    if (!outcome_) outcome_ = std::make_unique<OpOutcome>();
    return *outcome_;
  }
  /// Its outcome is there: counted with the run for as long as this object lives.
  void count_outcome() {
    if (!outcome_) return;
    const auto now =
        static_cast<std::int64_t>(outcome_->payload.size() + outcome_->failure.details.size());
    run_bytes += now - std::exchange(outcome_->held, now);
  }

  TurnApi* api;
  OpKind kind;
  OpState state = OpState::kPending;
  OnCancel on_cancel = OnCancel::kTryCancel;
  ClosePolicy close_policy = ClosePolicy::kCancel;  ///< of a child
  bool consumed = false;                            ///< the outcome was handed to the code
  /// Dropped or canceled by the code: a row, timer or child of it goes.
  bool given_up = false;
  /// The event that recorded the command; 0 for a task; below 0 for a condition, which nothing
  /// records: its number among those of the run.
  std::int64_t event;
  std::string name;    ///< of what was called or is waited for
  ScopeRef scope;
  std::uint64_t order = 0;   ///< position among all resolutions of the run; decides races
  Waiter* waiter = nullptr;  ///< whoever is suspended on it; at most one

 private:
  friend class OpRef;
  int refs_ = 0;
  std::unique_ptr<OpOutcome> outcome_;
};

/// A counted reference to an operation.
class OpRef {
 public:
  OpRef() = default;
  explicit OpRef(Op* op) : op_(op) {
    if (op_ != nullptr) ++op_->refs_;
  }
  OpRef(const OpRef& other) : OpRef(other.op_) {}
  OpRef(OpRef&& other) noexcept : op_(std::exchange(other.op_, nullptr)) {}
  OpRef& operator=(OpRef other) noexcept {
    std::swap(op_, other.op_);
    return *this;
  }
  ~OpRef() {
    if (op_ != nullptr && --op_->refs_ == 0) delete op_;
  }

  Op* get() const { return op_; }
  Op& operator*() const { return *op_; }
  Op* operator->() const { return op_; }
  explicit operator bool() const { return op_ != nullptr; }

 private:
  Op* op_ = nullptr;
};

}  // namespace perdure::detail
