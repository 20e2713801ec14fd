#pragma once

#include <chrono>
#include <string>

#include "base/time.h"
#include "model/failure.h"
#include "model/ids.h"
#include "model/request.h"
#include "provider/call.h"

/// Requests to a run that are answered by its code: updates and queries. The row of a request keeps
/// its reply for whoever waits, in any process; a turn writes it in its commit (TurnCommit::replies).
///
/// An update is known by its id for as long as its row is there: the second call with the same id
/// finds the first. A run that ends answers what it has not: updates that no turn took are refused,
/// accepted ones have failed, both with the type `run_ended`; queries are answered by a replay of
/// what has ended. Continue-as-new keeps those that no turn answered (an update whose message was
/// consumed without a word gets it again); accepted updates that are not done have failed.
namespace perdure {

/// How long replies, and the answers of other calls with a request id, are kept: from then on a
/// repeated call is a new one.
inline constexpr Duration kRepliesKeptFor = std::chrono::hours(24);

/// A request as it stands.
struct RequestState {
  InstanceKey instance;  ///< of the run that was asked
  RequestStage stage = RequestStage::kWaiting;
  std::string reply;  ///< of an answered one
  Failure failure;    ///< of one that was refused or failed
};

/// Stores a request and its message in one commit. For a live run it becomes part of the next turn
/// (a delayed start is not hurried); a query to a run that has ended is handed out by a fetch as an
/// item of its own (OrchestrationItem::status is terminal).
/// The request is there already: nothing is written, the answer is its state.
///
/// Errors: NotFound (no such run); Conflict (an update, and the run has ended); InvalidArgument
/// (names the field; or the id was used for something else).
struct MakeRequest {
  using Answer = RequestState;

  RequestKind kind = RequestKind::kUpdate;  ///< or kQuery
  std::string id;                           ///< of the run
  std::string request;                      ///< 1 to 255 bytes, unique among those of the run
  std::string name;
  std::string payload;
  /// Of a query: then nobody waits for the answer any more, and its row may go. An update has
  /// none.
  Duration expires_after = std::chrono::minutes(1);
};

/// A request whose state is asked for.
struct RequestQuery {
  InstanceKey instance;
  RequestKind kind = RequestKind::kUpdate;
  std::string request;
};

}  // namespace perdure
