#pragma once

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

#include <perdure/failure.h>

/// What user code throws and catches.
namespace perdure {

/// Base of everything that Perdure throws into user code.
class Exception : public std::exception {
 public:
  explicit Exception(std::string what) : what_(std::move(what)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// The run, or the scope that the code runs in, was canceled. Sticky: every later unshielded await
/// and command of that scope throws it again, so swallowing it does not keep a run alive. Clean up
/// with `ctx.shield(...)`.
class Canceled : public Exception {
 public:
  explicit Canceled(std::string reason)
      : Exception("canceled: " + reason), reason_(std::move(reason)) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// Thrown by user code to end an activity or an orchestration with a typed failure. Any other
/// exception becomes a failure too: its C++ type and `what()`.
class Failed : public Exception {
 public:
  explicit Failed(Failure failure)
      : Exception(failure.type + ": " + failure.message), failure_(std::move(failure)) {}
  Failed(std::string type, std::string message, bool retryable = true)
      : Failed(Failure{std::move(type), std::move(message), retryable, {}}) {}
  const Failure& failure() const { return failure_; }

 private:
  Failure failure_;
};

/// An activity or child that was called did not complete. `failure().type` tells what happened;
/// the engine's own types stand in `failure.h`.
class CallFailed : public Failed {
 public:
  CallFailed(std::string called, Failure failure)
      : Failed(std::move(failure)), called_(std::move(called)) {}
  /// Name of the activity or orchestration.
  const std::string& called() const { return called_; }

 private:
  std::string called_;
};

/// The final failure of an activity, after all its attempts.
class ActivityFailed : public CallFailed {
 public:
  using CallFailed::CallFailed;
};

/// A child failed, was canceled or terminated by somebody else, or could not start.
class ChildFailed : public CallFailed {
 public:
  using CallFailed::CallFailed;
};

/// The call can never succeed as it stands; the message names the field and says what to change.
/// Thrown at the call, before anything is stored.
class InvalidArgument : public Exception {
 public:
  using Exception::Exception;
};

/// The store could not be reached or did not answer in time; nothing was changed unless the message
/// says that it is not known.
class Unavailable : public Exception {
 public:
  using Exception::Exception;
};

/// The named run does not exist.
class NotFound : public Exception {
 public:
  using Exception::Exception;
};

/// The id is taken, or the state does not allow the call.
class Conflict : public Exception {
 public:
  using Exception::Exception;
};

/// The run has ended: it takes no messages any more.
class RunEnded : public Conflict {
 public:
  using Conflict::Conflict;
};

/// The code of the run declares no handler of that name; the message says which there are.
class UnknownHandler : public Exception {
 public:
  using Exception::Exception;
};

/// The validator of an update has refused it; the run does not know of it.
class UpdateRejected : public Failed {
 public:
  using Failed::Failed;
};

/// The handler of an update has failed.
class UpdateFailed : public Failed {
 public:
  using Failed::Failed;
};

/// The handler of a query has failed.
class QueryFailed : public Failed {
 public:
  using Failed::Failed;
};

/// A run that was waited for has failed.
class RunFailed : public Failed {
 public:
  using Failed::Failed;
};

/// A run that was waited for was canceled or terminated.
class RunCanceled : public Exception {
 public:
  explicit RunCanceled(std::string reason)
      : Exception("the run was canceled: " + reason), reason_(std::move(reason)) {}
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

}  // namespace perdure
