#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include <perdure/detail/handler_table.h>
#include <perdure/health.h>
#include <perdure/open.h>
#include <perdure/runtime_hooks.h>
#include <perdure/runtime_options.h>

namespace perdure {

class Registry;

namespace runtime {
class Host;
}

/// Runs orchestrations and activities of a store: dispatchers, workers and all that looks after
/// them, in threads of its own. Several, also in other processes, may serve one store.
///
/// What is stored survives it: a runtime that is killed loses no run, and what it had claimed is
/// taken over. Exceptions of handlers become recorded failures; trouble with the store delays work
/// and fails nothing.
/// Threading: any thread. Ownership: shares the store and the handlers.
class Runtime {
 public:
  /// Runs from now on, with the handlers that are registered now; a store that cannot be reached is
  /// tried again. InvalidArgument: an option is out of its range (see `check`), or a handler is
  /// isolated and `isolated_main` was not called.
  template <std::same_as<Registry> R>
  Runtime(std::shared_ptr<Provider> store,
          const R& registry,
          const RuntimeOptions& options = {},
          const RuntimeHooks& hooks = {})
      : Runtime(std::move(store), *registry.table(), options, hooks) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  /// Stops as `stop` does.
  ~Runtime();

  /// Claims nothing more, waits for running handlers for `shutdown_grace_period`, then fires their
  /// stop tokens, and gives back what is left `shutdown_force_timeout` later; nothing is charged for
  /// it. One deadline for all queues, counted from the call. While threads live that were told to
  /// end it waits for them until `zombie_shutdown_timeout`, counted from the call as well. A second
  /// call does nothing and answers the same.
  ///
  /// A turn that has not returned at the deadline is left to itself, as if it had not begun: its
  /// thread destroys its frames when it returns, and nothing of it is stored. A store that does not
  /// answer holds it up for three more seconds; what could not be given back then is taken over by
  /// others. Hooks, stop callbacks and destructors of the program are waited for, and reads of
  /// the store.
  ShutdownReport stop();

  RuntimeHealth health() const;
  const RuntimeOptions& options() const;

 private:
  Runtime(std::shared_ptr<Provider> store,
          const detail::HandlerTable& handlers,
          const RuntimeOptions& options,
          const RuntimeHooks& hooks);

  std::unique_ptr<runtime::Host> host_;
};

}  // namespace perdure
