#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <perdure/errors.h>
#include <perdure/run_list.h>

/// Canceling many runs by what they have in common: `Client::cancel_all` and its preview.
namespace perdure {

struct CancelAllOptions {
  /// Every live run of the store is meant: allows a filter that sets neither a name, a queue, the
  /// beginning of ids, a parent nor a time.
  bool every_run = false;
  std::size_t max_named = 1'000;  ///< runs that the answer names, 0 to 10,000; all are counted
};

/// What `cancel_all` would do now. Each run that applies is looked at by itself: one that the
/// cancel of another reaches, as its descendant, is counted too.
struct CancelPreview {
  std::int64_t runs = 0;          ///< would be canceled
  std::int64_t canceling = 0;     ///< apply, but their cancel is under way already
  std::int64_t unreadable = 0;    ///< rows are damaged: it is not known whether they apply
  std::vector<RunSummary> first;  ///< of `runs`, newest first
};

/// What `cancel_all` did.
struct RunsCanceled {
  std::int64_t canceled = 0;    ///< by this call; descendants that went with them not counted
  std::int64_t canceling = 0;   ///< were told before, by others or with a parent
  std::int64_t ended = 0;       ///< ended before their cancel came
  std::int64_t gone = 0;        ///< were deleted before their cancel came
  std::int64_t unreadable = 0;  ///< rows are damaged: nothing was changed
  /// Only when it stopped: may have been canceled, the store did not say.
  std::int64_t unknown = 0;
  std::vector<std::string> ids;       ///< of `canceled`, as they were reached: the oldest first
  std::vector<std::string> problems;  ///< of `unreadable`: which run, table and key
};

/// `cancel_all` could not go on; what it had done by then stays done. Called again it goes on:
/// runs that were canceled are not told twice.
class CancelAllStopped : public Unavailable {
 public:
  CancelAllStopped(std::string what, RunsCanceled done)
      : Unavailable(std::move(what)), done_(std::move(done)) {}
  const RunsCanceled& done() const { return done_; }

 private:
  RunsCanceled done_;
};

}  // namespace perdure
