#include <perdure/errors.h>
#include <perdure/runtime.h>

#include "runtime/host.h"
#include "runtime/isolation/program.h"

namespace perdure {

Runtime::Runtime(std::shared_ptr<Provider> store,
                 const detail::HandlerTable& handlers,
                 const RuntimeOptions& options) {
  if (!store) throw InvalidArgument("store: there is none");
  check(options);
  runtime::check_isolation(handlers);
  host_ = std::make_unique<runtime::Host>(
      std::move(store), std::make_shared<const detail::HandlerTable>(handlers), options);
}

Runtime::~Runtime() = default;

void Runtime::stop() {
  host_->stop();
}

}  // namespace perdure
