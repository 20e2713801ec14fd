#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <perdure/cancel_all.h>

#include "client/call_time.h"
#include "provider/provider.h"

namespace perdure::client {

/// Cancels runs one by one, as a client does, but hands several to the store at once, so that they
/// share its commits. A portion is halved after one that reached many descendants and doubled after
/// others: no commit grows large with the trees of the runs. Each request has an id of its own:
/// what the store does not answer is asked again and not done twice.
///
/// Crash: what was answered is durable; a run that was not reached is as it was. One thread.
/// Ownership: the store must outlive it.
class BulkCancel {
 public:
  struct Order {
    std::string reason;
    Duration cleanup_timeout{};
    Duration call_timeout{};    ///< of one portion
    std::size_t max_named = 0;  ///< of `ids` and of `problems`
  };

  BulkCancel(Provider& store, Order order) : store_(store), order_(std::move(order)) {}

  /// In their order. Throws Unavailable when trouble with the store lasts beyond the time of a
  /// portion; `done` counts what was answered by then, and what is not known.
  void cancel(std::span<const InstanceSummary> runs);

  const RunsCanceled& done() const { return done_; }

 private:
  /// A cancel that the store has not answered for good.
  struct Pending {
    CancelOrchestration request;
    std::shared_ptr<internal::AnswerSlot<CancelAnswer>> slot;
    bool unknown = false;  ///< a try may have taken place
  };
  struct Portion {
    std::vector<Pending> pending;
    std::int64_t descendants = 0;  ///< that went with those that were answered
    std::optional<Error> trouble;  ///< why one of them is still pending
  };

  CancelOrchestration request_for(const std::string& id) const;
  /// How many descendants went with them.
  std::int64_t cancel_together(std::span<const InstanceSummary> runs);
  /// Hands all that are pending to the store; those stay that are to be asked again.
  void ask(Portion& portion, const CallTime& time);
  void count(const std::string& id, const CancelAnswer& answer);
  void count(const std::string& id, const Error& refused);

  Provider& store_;
  const Order order_;
  std::size_t portion_ = 1;
  RunsCanceled done_;
};

}  // namespace perdure::client
