#pragma once

#include <memory>

#include <perdure/open.h>
#include <perdure/registry.h>
#include <perdure/runtime_options.h>

namespace perdure {

/// Runs orchestrations and activities of a store: dispatchers, workers and all that looks after
/// them, in threads of its own. Several, also in other processes and on other machines, may serve
/// one store.
///
/// What is stored survives it: a runtime that is killed loses no run, and what it had claimed is
/// taken over. Exceptions of handlers become recorded failures; trouble with the store delays work
/// and fails nothing.
/// Threading: any thread. Ownership: shares the store and the handlers.
class Runtime {
 public:
  /// Runs from now on. InvalidArgument: an option is out of its range (see `check`).
  Runtime(std::shared_ptr<Provider> store,
          const Registry& registry,
          const RuntimeOptions& options = {});
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  /// Stops as `stop` does.
  ~Runtime();

  /// Claims nothing more, waits for running handlers for `shutdown_grace_period`, then fires their
  /// stop tokens and gives back what is left; nothing is charged for it. Returns when all has ended
  /// or the time is over. A second call does nothing.
  void stop();

 private:
  class Impl;

  std::unique_ptr<Impl> impl_;
};

}  // namespace perdure
