#pragma once

#include <cstdint>
#include <cstdlib>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace perdure {

/// What went wrong, one code per thing a caller can do about it. See `reaction`.
enum class ErrorCode : std::uint8_t {
  kLockLost,         ///< Another worker owns the work now; nothing was written.
  kConflict,         ///< The state differs from what the caller read; nothing was written.
  kNotFound,         ///< The named thing does not exist.
  kInvalidArgument,  ///< The request can never succeed as it stands.
  kBusy,             ///< A limit is reached or a resource is held; nothing was written.
  kUnavailable,      ///< The store cannot be reached or refused; nothing was written.
  kCommitUnknown,    ///< The write may or may not have happened.
  kCorrupt,          ///< Stored data contradicts itself or the code.
};

/// What the caller should do next.
enum class Reaction : std::uint8_t {
  kDropWork,        ///< Stop, discard local state, report nothing.
  kRereadAndRedo,   ///< Load the state again and decide anew.
  kGiveUp,          ///< Tell the requester; a retry brings the same answer.
  kFixInput,        ///< Tell the requester what to change.
  kRetryLater,      ///< The same request may be sent again after a pause.
  kLookThenDecide,  ///< Read whether it happened; never repeat blindly.
  kIsolate,         ///< Set the damaged thing aside and go on with the others.
};

constexpr Reaction reaction(ErrorCode code) {
  switch (code) {
    case ErrorCode::kLockLost:
      return Reaction::kDropWork;
    case ErrorCode::kConflict:
      return Reaction::kRereadAndRedo;
    case ErrorCode::kNotFound:
      return Reaction::kGiveUp;
    case ErrorCode::kInvalidArgument:
      return Reaction::kFixInput;
    case ErrorCode::kBusy:
    case ErrorCode::kUnavailable:
      return Reaction::kRetryLater;
    case ErrorCode::kCommitUnknown:
      return Reaction::kLookThenDecide;
    case ErrorCode::kCorrupt:
      return Reaction::kIsolate;
  }
  std::abort();
}

/// The enumerator's name without its `k`, for example "LockLost".
constexpr std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kLockLost:
      return "LockLost";
    case ErrorCode::kConflict:
      return "Conflict";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case ErrorCode::kBusy:
      return "Busy";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kCommitUnknown:
      return "CommitUnknown";
    case ErrorCode::kCorrupt:
      return "Corrupt";
  }
  std::abort();
}

/// The inverse of `to_string`; nothing for any other text.
std::optional<ErrorCode> parse_error_code(std::string_view text);

/// A failure as a value: a code for the program, a message for a person.
struct Error {
  ErrorCode code;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

Error lock_lost(std::string message);
Error conflict(std::string message);
Error not_found(std::string message);
Error invalid_argument(std::string message);
Error busy(std::string message);
Error unavailable(std::string message);
Error commit_unknown(std::string message);
Error corrupt(std::string message);

std::ostream& operator<<(std::ostream& out, ErrorCode code);

/// Prints "Code: message".
std::ostream& operator<<(std::ostream& out, const Error& error);

}  // namespace perdure
