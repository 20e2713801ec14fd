#include <perdure/runtime.h>
#include <perdure/signals.h>

#include "runtime/stop_signals.h"

namespace perdure {

int run_until_signal(Runtime& runtime, std::optional<Duration> force_exit_timeout) {
  return runtime::run_until_stop_signal([&runtime] { runtime.stop(); },
                                        force_exit_timeout.value_or(runtime.options().force_exit_timeout));
}

}  // namespace perdure
