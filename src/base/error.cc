#include "base/error.h"

#include <ostream>
#include <utility>

namespace perdure {

std::optional<ErrorCode> parse_error_code(std::string_view text) {
  constexpr ErrorCode kAll[] = {ErrorCode::kLockLost,
                                ErrorCode::kConflict,
                                ErrorCode::kNotFound,
                                ErrorCode::kInvalidArgument,
                                ErrorCode::kBusy,
                                ErrorCode::kUnavailable,
                                ErrorCode::kCommitUnknown,
                                ErrorCode::kCorrupt};
  for (const ErrorCode code : kAll) {
    if (to_string(code) == text) return code;
  }
  return std::nullopt;
}

Error lock_lost(std::string message) {
  return {ErrorCode::kLockLost, std::move(message)};
}
Error conflict(std::string message) {
  return {ErrorCode::kConflict, std::move(message)};
}
Error not_found(std::string message) {
  return {ErrorCode::kNotFound, std::move(message)};
}
Error invalid_argument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}
Error busy(std::string message) {
  return {ErrorCode::kBusy, std::move(message)};
}
Error unavailable(std::string message) {
  return {ErrorCode::kUnavailable, std::move(message)};
}
Error commit_unknown(std::string message) {
  return {ErrorCode::kCommitUnknown, std::move(message)};
}
Error corrupt(std::string message) {
  return {ErrorCode::kCorrupt, std::move(message)};
}

std::ostream& operator<<(std::ostream& out, ErrorCode code) {
  return out << to_string(code);
}

std::ostream& operator<<(std::ostream& out, const Error& error) {
  return out << error.code << ": " << error.message;
}

}  // namespace perdure
