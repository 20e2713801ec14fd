#pragma once

#include <string>
#include <string_view>

#include <perdure/json.h>

namespace perdure::cli {

/// JSON text that somebody wrote, as the value that is stored. Throws InvalidArgument that names
/// `what` for a text that is none, and for one that would be stored as something else: a whole
/// number of more than 64 bits, a key that an object has twice.
Json parse_json_argument(std::string_view what, const std::string& text);

/// A payload as a command takes it: the text itself, or all of standard input for `-`. The same
/// errors.
Json read_payload_argument(const std::string& text);

}  // namespace perdure::cli
