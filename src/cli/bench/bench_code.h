#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include <perdure/contracts.h>
#include <perdure/registry.h>

/// The orchestrations that are measured. Their one activity adds 1 to its input, so that every
/// result tells whether each of its calls was made.
namespace perdure::bench {

using Number = std::int64_t;

inline constexpr Activity<Number(Number)> kIncrement{"increment"};

inline constexpr Orchestration<Number(Number)> kHello{"hello"};      ///< one call of its input
inline constexpr Orchestration<Number(Number)> kFanout{"fanout"};    ///< parallel calls, joined
inline constexpr Orchestration<Number(Number)> kChain{"chain"};      ///< one call after the other
inline constexpr Orchestration<Number(Number)> kFanin{"fanin"};      ///< `input` parallel calls
inline constexpr Orchestration<Number(Number)> kHistory{"history"};  ///< `input` calls in a row

inline constexpr int kFanoutWidth = 5;
inline constexpr int kChainLength = 10;

/// What the code gives for an input.
Number fanout_of(Number input);
Number chain_of(Number input);
Number fanin_of(Number input);

/// All of the above. Each activity takes `activity_time`; `on_call`, when set, is called with its
/// input at its beginning, from many threads at once.
Registry make_bench_code(std::chrono::milliseconds activity_time,
                         std::function<void(Number)> on_call = nullptr);

}  // namespace perdure::bench
