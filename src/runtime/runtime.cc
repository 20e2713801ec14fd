#include <perdure/errors.h>
#include <perdure/runtime.h>

#include "runtime/host.h"
#include "runtime/isolation/program.h"

namespace perdure {

Runtime::Runtime(std::shared_ptr<Provider> store,
                 const detail::HandlerTable& handlers,
                 const RuntimeOptions& options,
                 const RuntimeHooks& hooks) {
  if (!store) throw InvalidArgument("store: there is none");
  check(options);
  runtime::check_isolation(handlers);
  host_ = std::make_unique<runtime::Host>(
      std::move(store), std::make_shared<const detail::HandlerTable>(handlers), options, hooks);
}

Runtime::~Runtime() = default;

ShutdownReport Runtime::stop() {
  return host_->stop();
}

RuntimeHealth Runtime::health() const {
  return host_->health();
}

const RuntimeOptions& Runtime::options() const {
  return host_->options();
}

}  // namespace perdure
