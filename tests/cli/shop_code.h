#pragma once

#include <string>

#include <perdure/perdure.h>

/// The orchestrations of a small program, as they were when its histories were recorded and as they
/// are after a deployment.
namespace perdure::test {

inline constexpr Orchestration<std::string(int)> checkout{"checkout"};  ///< a call more
inline constexpr Orchestration<int(int)> pricing{"pricing"};            ///< another input of a call
inline constexpr Orchestration<int(int)> counter{"counter"};     ///< unchanged; three executions
inline constexpr Orchestration<std::string()> waiter{"waiter"};  ///< unchanged; waits for an event
inline constexpr Orchestration<int()> ruled{"ruled"};            ///< version 1.0, which is gone
inline constexpr Orchestration<int()> foreign{"foreign"};        ///< of another program

Registry code_before();
Registry code_after();

}  // namespace perdure::test
