#pragma once

#include <exception>
#include <string>
#include <utility>

#include "base/time.h"
#include "model/ids.h"

namespace perdure::runtime {

/// Whose code it is, and how long it may take.
struct CodeOwner {
  InstanceKey instance;
  std::string instance_id;
  std::string orchestration;
  Duration limit{};  ///< zero: for ever
};

/// A stretch of user code that runs in one go, such as a turn. It may never return, so it owns all
/// that it touches or shares it: who waits for it may go away before.
///
/// Threading: made by its dispatcher, handed to the thread that runs it, and back when it has
/// ended. One that was abandoned does not come back: nothing of it but `owner` may be looked at any
/// more.
class UserCode {
 public:
  explicit UserCode(CodeOwner whose) : owner(std::move(whose)) {}
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;
  virtual ~UserCode() = default;

  virtual void run() = 0;
  /// Destroys its frames and all that it decided. Called on the thread that ran it, when it was
  /// abandoned before it came back.
  virtual void discard() noexcept = 0;

  const CodeOwner owner;
  std::exception_ptr error;  ///< what came out of `run`
};

}  // namespace perdure::runtime
