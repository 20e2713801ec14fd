#pragma once

#include <string>
#include <string_view>

namespace perdure::client {

/// The id as a string of its own; InvalidArgument that names the field when it can be none.
std::string checked_id(std::string_view field, std::string_view id);

}  // namespace perdure::client
