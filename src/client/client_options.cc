#include <perdure/client_options.h>

#include "model/option_ranges.h"

namespace perdure {

void check(const ClientOptions& options) {
  constexpr Duration kTick = std::chrono::milliseconds(1);
  option_ranges::check_time("call_timeout", options.call_timeout, kTick);
  option_ranges::check_time("cancel_cleanup_timeout", options.cancel_cleanup_timeout, kTick);
  option_ranges::check_size("max_payload_bytes", options.max_payload_bytes, 1);
}

}  // namespace perdure
