#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <perdure/cancel_all.h>

#include "provider/provider.h"

/// Which runs a bulk cancel means.
namespace perdure::client {

/// False: it takes all runs, or all of some statuses, or all roots.
bool chooses(const RunFilter& filter);

/// The filter for the live runs that apply. Throws InvalidArgument, naming the field, for a status
/// that is an end, and for a filter that chooses all runs when that was not asked for.
RunFilter live_filter(const RunFilter& filter, bool every_run);

/// Live runs that a filter chooses: of those that were there when it was looked through first.
/// What begins later is none of them, also when it begins under an id that was there. Keeps one
/// position for each page, not the runs.
///
/// Throws as `read`: each look at the store has `call_timeout`. Only reads. One thread. Ownership:
/// the store must outlive it.
class ChosenRuns {
 public:
  using Each = std::function<void(InstanceSummary)>;

  ChosenRuns(Provider& store, const RunFilter& live_filter, Duration call_timeout);

  /// Looks through the store, once: each run, newest first.
  void look_through(const Each& each);
  /// After that: the runs of the oldest page that was not taken yet, as they are now, the oldest
  /// first, so that parents stand before their children. Empty: there are no more.
  std::vector<InstanceSummary> take_oldest();

 private:
  /// A page of the first look: where it begins and which runs it had.
  struct Part {
    std::optional<ListCursor> after;
    InstanceKey newest;
    InstanceKey oldest;
  };

  InstancePage page_behind(const std::optional<ListCursor>& after);
  std::vector<InstanceSummary> runs_of(const Part& part);
  /// False for one that was started anew under an id that has been there longer.
  Result<bool> began_in_time(const InstanceSummary& run);

  Provider& store_;
  const InstanceFilter filter_;
  const Duration call_timeout_;
  const TimePoint begun_before_;
  std::vector<Part> parts_;
};

}  // namespace perdure::client
