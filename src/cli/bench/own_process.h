#pragma once

#include <chrono>
#include <cstdint>

/// What this process takes from the machine.
namespace perdure::bench {

/// Bytes of memory that are resident, after the free parts of the heap were given back.
std::int64_t resident_bytes();

/// Time that all its threads have spent on processors, in user and kernel mode.
std::chrono::microseconds processor_time();

}  // namespace perdure::bench
