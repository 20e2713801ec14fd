#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace perdure::detail {

/// Bytes that runs have taken on this thread, less those that they gave back on it. A run takes and
/// gives back only while its engine runs its code or destroys it, so the difference over that time
/// is what the run grew by. The number itself says nothing: a run may end on another thread.
inline constinit thread_local std::int64_t run_bytes = 0;

/// For bases of what a run consists of: counts each object with all that is derived from it. Never
/// inline: g++ takes a pair of which it has inlined only one for a mismatch.
struct CountsRunBytes {
  [[gnu::noinline]] static void* operator new(std::size_t size) {
    void* const memory = ::operator new(size);
    run_bytes += static_cast<std::int64_t>(size);
    return memory;
  }
  [[gnu::noinline]] static void operator delete(void* memory, std::size_t size) noexcept {
    run_bytes -= static_cast<std::int64_t>(size);
    ::operator delete(memory);  // clang has no sized one unless asked
  }
};

}  // namespace perdure::detail
