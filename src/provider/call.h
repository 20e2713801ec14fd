#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "base/result.h"

/// How a provider is called.
///
/// Every write is a request struct (fields can be added without breaking an implementer) with a
/// nested `Answer`. It is submitted with a completion; the completion runs exactly once, after the
/// commit that made the request durable, or with the error that says why nothing was written.
namespace perdure {

/// Bounds one call.
struct CallOptions {
  /// When this has passed and the commit has not begun, the answer is Busy and nothing was written.
  /// Real time, also under a virtual clock.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

/// Runs on the provider's writer thread, or inside `poll_once()` when it has none. Must not block
/// and must not call the provider synchronously. Submitting further requests is allowed, but not
/// the same one again after Unavailable: a provider that is being closed answers so for ever.
template <class T>
using Completion = std::function<void(Result<T>)>;

/// Answers of a batch, one per entry and in its order: each entry succeeds or fails by itself. A
/// Result around a Batch that is an error means that no entry was written (CommitUnknown: that it
/// is not known).
template <class T>
using Batch = std::vector<Result<T>>;

}  // namespace perdure
