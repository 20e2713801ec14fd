#pragma once

#include <string_view>
#include <utility>

#include <perdure/detail/task_op.h>
#include <perdure/detail/turn_api.h>
#include <perdure/detail/use_it.h>
#include <perdure/future.h>

namespace perdure {

namespace detail {
enum class SpawnAs : std::uint8_t { kSibling, kScoped, kShield };

template <class T>
Future<T> spawn(TurnApi& api, Task<T> task, SpawnAs how, ScopeRef parent) {
  auto* op = new TypedTaskOp<T>(api, how == SpawnAs::kShield ? "shield" : "task", std::move(task));
  OpRef ref(op);
  op->fails_the_run = how == SpawnAs::kSibling;
  if (how == SpawnAs::kShield) op->on_cancel = OnCancel::kWait;
  api.spawn(*op, std::move(parent), how == SpawnAs::kShield);
  return Future<T>(std::move(ref), &take_task<T>);
}
}  // namespace detail

/// A part of a run that can be canceled by itself. What its tasks call, wait for and spawn belongs
/// to it. Destroying it cancels what still runs in it. One thread: that of the turn.
class PERDURE_DETAIL_USE_IT("a scope that is dropped cancels what runs in it: keep it") Scope {
 public:
  Scope(detail::TurnApi& api, detail::ScopeRef state) : api_(&api), state_(std::move(state)) {}
  Scope(Scope&& other) noexcept = default;
  Scope& operator=(Scope&&) = delete;
  ~Scope() {
    if (state_) api_->drop_scope(state_);
  }

  /// Runs a task in this scope, beside the caller. Its failure is its future's alone.
  template <class T>
  Future<T> spawn(Task<T> task) {
    return detail::spawn(*api_, std::move(task), detail::SpawnAs::kScoped, state_);
  }

  /// Cancels everything in it, now and for good: calls and timers in this commit, tasks at their
  /// awaits (`Canceled`). Shielded parts go on.
  void cancel(std::string_view reason = "scope canceled") { api_->cancel_scope(state_, reason); }
  bool is_canceled() const { return state_->canceled; }

 private:
  detail::TurnApi* api_;
  detail::ScopeRef state_;
};

}  // namespace perdure
