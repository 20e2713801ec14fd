#pragma once

#include <cstdint>
#include <string>

namespace perdure::bench {

/// How the program is called to be the process that holds handlers.
inline constexpr const char* kHolderCommand = "bench-holder";

/// The process that the workload `recovery` kills: serves the store with `handlers` slots and lets
/// each handler wait for ever. Writes one line to standard output: "held" when that many run, or
/// what is wrong. Ends this process when standard input ends; otherwise never returns.
[[noreturn]] void hold(const std::string& url, std::int64_t handlers);

}  // namespace perdure::bench
