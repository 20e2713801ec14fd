#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace perdure::sqlite {

inline constexpr const char* kServedName = "served";
inline constexpr const char* kUnservedName = "unserved";
inline constexpr int kFillPriorities = 3;

/// What stands in the queues of a store, oldest first.
struct QueueFill {
  std::int64_t sleeping = 0;         ///< timers and delayed work rows, due in a day
  std::int64_t unserved = 0;         ///< due instances and ready work rows of kUnservedName
  std::int64_t locked_messages = 0;  ///< of one instance that somebody has locked
  std::int64_t ready = 0;            ///< due instances and ready work rows of kServedName
};

/// Makes a store at `path`, which must not exist, and fills its queues: for each number so many
/// instances with one message and so many work rows of kFillPriorities priorities. Big transactions
/// of the provider's statements; the file is on the disk when it returns.
Status fill_queues(const std::string& path, const QueueFill& fill);

}  // namespace perdure::sqlite
