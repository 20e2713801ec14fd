#pragma once

#include <cstdint>
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

enum class OpKind : std::uint8_t { kActivity, kTimer, kEvent, kChild, kTask };
enum class OpState : std::uint8_t { kPending, kCompleted, kFailed, kCanceled };

/// One thing that a run waits for, from the call to its outcome. Shared by the future that stands
/// for it and, until it is resolved, by the engine. One thread: that of the turn; so the count is
/// plain. Member of its scope's ring while it is unresolved, unless it is a task.
class Op : public ListHook, public CountsRunBytes {
 public:
  Op(TurnApi& owner, OpKind what, std::int64_t event_id, std::string called, ScopeRef home)
      : api(&owner), kind(what), event(event_id), name(std::move(called)), scope(std::move(home)) {}
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  virtual ~Op() { run_bytes -= held_; }

  bool resolved() const { return state != OpState::kPending; }

  /// Its outcome is there: counted with the run for as long as this object lives.
  void count_outcome() {
    const auto now = static_cast<std::int64_t>(payload.size() + failure.details.size());
    run_bytes += now - std::exchange(held_, now);
  }

  TurnApi* api;
  OpKind kind;
  std::int64_t event;  ///< the event that recorded the command; 0 for a task
  std::string name;    ///< of what was called or is waited for
  ScopeRef scope;
  OnCancel on_cancel = OnCancel::kTryCancel;
  ClosePolicy close_policy = ClosePolicy::kCancel;  ///< of a child
  OpState state = OpState::kPending;
  std::uint64_t order = 0;  ///< position among all resolutions of the run; decides races
  std::string payload;
  Failure failure;
  std::string reason;
  Waiter* waiter = nullptr;  ///< whoever is suspended on it; at most one
  bool consumed = false;     ///< the outcome was handed to the code
  bool given_up = false;     ///< dropped or canceled by the code: a row, timer or child of it goes

 private:
  friend class OpRef;
  int refs_ = 0;
  std::int64_t held_ = 0;
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
