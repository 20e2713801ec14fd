#pragma once

#include <cstddef>
#include <string>

namespace perdure {

/// Longer texts of failures that user code makes are cut, at the end.
inline constexpr std::size_t kMostFailureBytes = 65'536;

/// An error as user code meets it: what an activity, a child or an orchestration ended with.
/// A value; stored in columns of its own wherever a failure is stored.
struct Failure {
  std::string type;       ///< for `non_retryable` lists and catch sites; empty = no failure
  std::string message;    ///< for people
  bool retryable = true;  ///< false: the retry policy is not asked
  std::string details;    ///< JSON text of the author's choice, or empty

  bool operator==(const Failure&) const = default;
};

/// Types of failures that the engine itself makes.
inline constexpr const char* kPoisonFailure = "poison";
inline constexpr const char* kTimeoutFailure = "timeout";
/// The process of an isolated handler ended before it gave a result.
inline constexpr const char* kProcessDiedFailure = "process_died";
/// The process of an isolated handler could not begin as it should: `isolated_main` is missing.
inline constexpr const char* kIsolationFailure = "isolation";
inline constexpr const char* kCompensationFailure = "compensation_failed";
inline constexpr const char* kBadInputFailure = "bad_input";  ///< a payload of the wrong shape
inline constexpr const char* kInvalidArgumentFailure = "invalid_argument";  ///< a refused call
inline constexpr const char* kIdTakenFailure = "id_taken";   ///< a child's id belongs to another
inline constexpr const char* kCanceledFailure = "canceled";  ///< a child that was canceled
inline constexpr const char* kTerminatedFailure = "terminated";  ///< a child that was terminated
/// An update or query that the code of the run has no handler for.
inline constexpr const char* kUnknownHandlerFailure = "unknown_handler";
/// An update or query that its run did not answer before it ended.
inline constexpr const char* kRunEndedFailure = "run_ended";

}  // namespace perdure
