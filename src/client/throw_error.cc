#include "client/throw_error.h"

#include <string>

#include <perdure/errors.h>

namespace perdure {

void throw_error(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalidArgument:
      throw InvalidArgument(error.message);
    case ErrorCode::kNotFound:
      throw NotFound(error.message);
    case ErrorCode::kConflict:
    case ErrorCode::kLockLost:
      throw Conflict(error.message);
    case ErrorCode::kCommitUnknown:
      throw Unavailable("it is not known whether the call took place: " + error.message);
    case ErrorCode::kBusy:
    case ErrorCode::kUnavailable:
    case ErrorCode::kCorrupt:
      throw Unavailable(error.message);
  }
  throw Unavailable(error.message);
}

}  // namespace perdure
