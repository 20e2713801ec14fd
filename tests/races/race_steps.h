#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "runtime/attempt.h"
#include "runtime/attempt_timer.h"
#include "runtime/attempts.h"
#include "runtime/settler.h"
#include "runtime/slots.h"
#include "runtime/stop_firer.h"
#include "runtime/suspects.h"
#include "tests/conformance/conformance.h"
#include "tests/races/race.h"

namespace perdure::races {

/// The run "a" of a scene, and all that can be done to it. "This process" is the registration of
/// the fixture, which holds the call and the turn; the other one claims and fetches.
class RaceSteps : public conformance::Conformance {
 protected:
  void SetUp() override;
  void TearDown() override;
  std::unique_ptr<conformance::StoreUnderTest> make_store() override;

  /// `first`: what shall happen first in it.
  void set(const Scene& scene, Deed first = Deed::kCancel);
  /// Does it and says what was answered.
  std::string perform(Deed deed);
  /// What is left. Gives back the turns that are held, after an ack of that of the other process.
  std::string rest();
  /// Ids without a gap; a terminal event is the last one, and there is one just when the run ended.
  void expect_whole_history();
  const WorkItem& claimed_call() const { return mine_.value(); }
  const OrchestrationItem& held_turn() const { return turn_.value(); }

 private:
  using Kind = WorkOutcome::Kind;

  void first_turn();
  void claim_calls();
  void drop_call();
  void cancel_run();
  /// The handler of the call, whose row a commit has marked.
  void tell_to_stop(const std::vector<TouchedClaim>& touched);
  OrchestrationItem lock_for_an_hour();

  std::string take_down(Deed deed);
  std::string claim_by_other();
  std::string settle(const char* name, Kind kind);
  /// What the next outcome is for.
  const WorkItem& next_call();
  std::string fire_timer();
  std::string fetch_by_other();
  std::string commit_turn(Deed deed);
  std::string time_out();
  std::string sweep_leases();
  std::string end_grace();
  std::string end_process(Deed deed);
  std::string delete_run();

  /// The turn of "a", locked by the other process.
  std::optional<OrchestrationItem> fetch_run();
  void give_back(const std::optional<OrchestrationItem>& item);
  /// ", fires 1"; each must be the claim that was made last.
  std::string fired(const std::vector<TouchedClaim>& touched);
  std::string work_left();

  Scene scene_;
  std::unique_ptr<TokenMint> other_;
  EventId call_;
  std::optional<EventId> timer_event_;
  std::optional<WorkItem> mine_;    ///< the call as this process claimed it
  std::optional<WorkItem> second_;  ///< the other call
  bool had_outcome_ = false;        ///< of the first call
  std::optional<WorkItem> latest_;  ///< the newest claim of the call, whoever made it
  std::optional<OrchestrationItem> turn_;
  std::optional<OrchestrationItem> turn_of_other_;

  runtime::Attempts attempts_;
  runtime::Suspects suspects_;
  std::shared_ptr<runtime::Attempt> attempt_;
  std::shared_ptr<runtime::Settler> settler_;
  std::unique_ptr<runtime::AttemptTimer> timer_;
};

}  // namespace perdure::races
