#pragma once

#include <string>
#include <string_view>

#include <perdure/options.h>

#include "provider/client_requests.h"

namespace perdure::client {

/// What a client's start asks of the store. The cleanup timeout is left to the caller.
/// InvalidArgument for a version that does not parse: a store takes any text for one, but no worker
/// would ever ask for such a run. The store checks the other fields itself.
StartOrchestration start_request(std::string_view name,
                                 std::string_view id,
                                 std::string input,
                                 const StartOptions& options);

}  // namespace perdure::client
