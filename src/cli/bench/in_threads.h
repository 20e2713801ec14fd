#pragma once

#include <cstdint>
#include <functional>

namespace perdure::bench {

/// Calls `each(i)` for all `i` of [begin, end), spread over so many threads, in no order; returns
/// when all are done. When one throws, no further call begins and the first exception is thrown on.
void in_threads(int threads,
                std::int64_t begin,
                std::int64_t end,
                const std::function<void(std::int64_t)>& each);

}  // namespace perdure::bench
