#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perdure::client {

/// The reason of a cancel or terminate as a string of its own; InvalidArgument when it has a NUL or
/// too many bytes, or is no UTF-8.
std::string checked_reason(std::string_view reason, std::size_t max_bytes);

}  // namespace perdure::client
