#pragma once

#include <string>
#include <string_view>

namespace perdure::client {

/// An id that nobody else makes: 128 random bits as 32 hexadecimal digits.
std::string made_id();

/// What the caller gave, or one of our own: `auto-` and a made id.
std::string request_id_or_made(std::string_view given);

}  // namespace perdure::client
