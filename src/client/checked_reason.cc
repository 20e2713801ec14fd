#include "client/checked_reason.h"

#include <perdure/errors.h>

#include "base/utf8.h"

namespace perdure::client {

std::string checked_reason(std::string_view reason, std::size_t max_bytes) {
  if (reason.find('\0') != std::string_view::npos) {
    throw InvalidArgument("reason must not contain NUL");
  }
  if (!is_valid_utf8(reason)) throw InvalidArgument("reason must be valid UTF-8");
  if (reason.size() > max_bytes) {
    throw InvalidArgument("reason: " + std::to_string(reason.size()) + " bytes, the limit is " +
                          std::to_string(max_bytes));
  }
  return std::string(reason);
}

}  // namespace perdure::client
