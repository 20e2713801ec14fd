#pragma once

#include <exception>
#include <optional>
#include <utility>

#include <perdure/detail/op.h>
#include <perdure/outcome.h>
#include <perdure/task.h>

namespace perdure::detail {

/// A task that runs by itself: main, a spawned task, a shielded one. Owns its frames.
class TaskOp : public Op {
 public:
  TaskOp(TurnApi& owner, std::string called) : Op(owner, OpKind::kTask, 0, std::move(called), {}) {}

  /// Queues its first step in `home`.
  void start(ScopeRef home) {
    scope = std::move(home);
    driver_->start_as(*api, scope, *this);
  }
  /// Destroys what is left of its frames, innermost first. Not from inside them.
  void destroy_frames() {
    if (driver_) driver_->destroy_callees();
    driver_.reset();
  }

  std::exception_ptr error;    ///< what escaped the task
  bool fails_the_run = false;  ///< a sibling of main

 protected:
  void set_driver(Task<void> driver) { driver_.emplace(std::move(driver)); }

 private:
  std::optional<Task<void>> driver_;
};

template <class T>
class TypedTaskOp final : public TaskOp {
 public:
  TypedTaskOp(TurnApi& owner, std::string called, Task<T> task) : TaskOp(owner, std::move(called)) {
    set_driver(drive(std::move(task), this));
  }

  std::optional<Stored<T>> value;

 private:
  static Task<void> drive(Task<T> task, TypedTaskOp* self) {
    try {
      if constexpr (std::is_void_v<T>) {
        co_await std::move(task);
        self->value.emplace();
      } else {
        self->value.emplace(co_await std::move(task));
      }
    } catch (...) {
      self->error = std::current_exception();
    }
  }
};

}  // namespace perdure::detail
