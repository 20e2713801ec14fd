#pragma once

#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <perdure/detail/op.h>
#include <perdure/detail/scope_state.h>
#include <perdure/options.h>
#include <perdure/time.h>

/// The seam between the coroutine types of the public headers and the engine.
namespace perdure::detail {

class PromiseBase;
class TaskOp;

struct ActivityCall {
  std::string_view name;
  std::string input;  ///< JSON text
  ActivityOptions options;
};

struct ChildCall {
  std::string_view name;
  std::string input;
  ChildOptions options;
};

struct DetachedCall {
  std::string_view name;
  std::string_view id;
  std::string input;
  DetachedOptions options;
};

/// What an orchestration can ask of the engine that runs it. Called on the thread of the turn, from
/// user code. Commands throw `Canceled` when the scope of the running task is canceled. When the
/// engine has stopped the code (a mismatch, an eviction, the end), nothing is emitted, no operation
/// resolves and no await resumes.
class TurnApi {
 public:
  TurnApi() = default;
  TurnApi(const TurnApi&) = delete;
  TurnApi& operator=(const TurnApi&) = delete;
  virtual ~TurnApi() = default;

  // Commands.
  virtual OpRef call_activity(ActivityCall call) = 0;
  virtual void owe_undo(Op& call, std::string_view name, const UndoOptions& options) = 0;
  virtual OpRef call_child(ChildCall call) = 0;
  virtual void start_detached(DetachedCall call) = 0;
  virtual OpRef start_timer(Duration delay) = 0;
  virtual OpRef start_timer_at(TimePoint due) = 0;
  virtual OpRef wait_for_event(std::string_view name) = 0;
  /// Looked at now, and again after all that moves the run, until it holds.
  virtual OpRef wait_until(std::function<bool()> condition) = 0;
  virtual void continue_as_new(std::string input, std::optional<std::string> version) = 0;

  // Recorded values.
  /// What was recorded here before, or what `make` gives now, recorded.
  virtual std::string record(std::string_view name, const std::function<std::string()>& make) = 0;
  virtual std::string make_uuid() = 0;
  virtual std::uint64_t make_random() = 0;
  virtual bool patched(std::string_view id) = 0;
  virtual void set_custom_status(std::string status) = 0;

  // Tasks and scopes.
  /// Starts a task in a scope of its own below `parent` (null: below that of the running task).
  virtual void spawn(TaskOp& task, ScopeRef parent, bool shield) = 0;
  virtual ScopeRef open_scope() = 0;
  virtual void cancel_scope(const ScopeRef& scope, std::string_view reason) = 0;
  /// The handle of `scope` is gone: what still runs in it is canceled.
  virtual void drop_scope(const ScopeRef& scope) noexcept = 0;
  /// A task that `spawn` started, or main, has come to its end.
  virtual void task_ended(TaskOp& task) = 0;
  /// The future of `op` is gone: what is pending is given up.
  virtual void drop(Op& op) noexcept = 0;
  /// The future of `op` is gone, but it goes on.
  virtual void detach(Op& op) noexcept = 0;

  // Resumption. Never nested: the engine resumes what these queue.
  virtual void resume_later(std::coroutine_handle<> handle, PromiseBase& promise) = 0;
  virtual void resume_next(std::coroutine_handle<> handle, PromiseBase& promise) = 0;
  virtual bool stopped() const noexcept = 0;

  // What the run is.
  virtual TimePoint now() const = 0;
  virtual bool is_replaying() const = 0;
  virtual const std::string& instance_id() const = 0;
  virtual const std::string& orchestration() const = 0;
  virtual const std::string& version() const = 0;
  virtual std::int64_t execution() const = 0;
  virtual bool is_canceled() const = 0;
  virtual const std::string& cancel_reason() const = 0;
  /// Storage of the run for one type, told apart by `key`; empty until filled.
  virtual std::shared_ptr<void>& local(const void* key) = 0;
  virtual void log(int level, std::string line) = 0;
  virtual std::size_t max_payload_bytes() const = 0;
};

}  // namespace perdure::detail
