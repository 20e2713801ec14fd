#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perdure/options.h>

#include "base/time.h"
#include "model/event.h"
#include "model/failure.h"
#include "model/ids.h"
#include "model/request.h"

/// What a turn can decide besides events and work: values shared by those who decide and those who
/// store.
namespace perdure {

/// A timer: a message to this instance that becomes visible when it is due.
struct NewTimer {
  EventId event;
  TimePoint due{};
  bool shielded = false;  ///< survives a cancel of its run
};

/// A child (or, detached, a run without a parent link) that this turn starts.
struct NewChild {
  EventId event;  ///< the scheduling event
  std::string id;
  std::string name;
  std::string version;
  std::string queue;
  std::string input;
  int priority = 0;  ///< of the run that begins
  bool detached = false;
  ClosePolicy close_policy = ClosePolicy::kCancel;
  bool shielded = false;  ///< survives a cancel of its parent; not its end
  OnReuse on_reuse = OnReuse::kAllow;
  TimePoint start_at{};  ///< in the past: at once
  std::optional<TimePoint> deadline;
};

/// An event raised by an orchestration for another instance. Unknown and ended targets drop it.
struct OutgoingEvent {
  std::string id;
  std::string name;
  std::string payload;
};

/// What becomes of a request that somebody made to this run.
struct Reply {
  RequestKind kind = RequestKind::kUpdate;  ///< or kQuery
  std::string request;                      ///< its id, as its message told
  RequestStage stage = RequestStage::kAnswered;
  std::string payload;  ///< of an answered one
  Failure failure;      ///< of one that was refused or failed

  bool operator==(const Reply&) const = default;
};

/// The next life after continue-as-new.
struct NextExecution {
  std::string input;
  std::optional<std::string> version;  ///< nullopt: keeps the version, also that of having none
  /// Events after `started`: unread external events and signals in their order.
  std::vector<HistoryEvent> carried;
};

}  // namespace perdure
