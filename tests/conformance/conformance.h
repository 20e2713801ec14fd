#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "provider/provider.h"
#include "provider/token_mint.h"
#include "tests/conformance/store_under_test.h"

/// The fixture of all suites: one fresh store per test, a registered process, and short words for
/// what tests do again and again. No test reads a clock, a table or a file.
namespace perdure::conformance {

using namespace std::chrono_literals;

inline constexpr const char* kQueue = "default";
inline constexpr const char* kFlow = "flow";  ///< orchestration name that lock() serves
inline constexpr const char* kVersion = "1";
inline constexpr const char* kTask = "task";  ///< activity name that claim() serves
inline constexpr Duration kLock = 30s;

/// Nothing when the call succeeded.
template <class T>
std::optional<ErrorCode> code_of(const Result<T>& result) {
  if (result.ok()) return std::nullopt;
  return result.error().code;
}

class Conformance : public ::testing::TestWithParam<StoreParam> {
 protected:
  void SetUp() override;
  void TearDown() override;
  /// The store of the test: that of its parameter, unless a fixture has its own.
  virtual std::unique_ptr<StoreUnderTest> make_store() { return GetParam().make(); }

  StoreUnderTest& under_test() { return *store_; }
  Provider& store() { return store_->provider(); }
  void advance(Duration step) { store_->advance(step); }
  TimePoint now() { return store().clock().now(); }

  /// The registration of the test itself, made in SetUp.
  Epoch epoch() const { return mint_->epoch(); }
  TokenMint& mint() { return *mint_; }
  /// Another registration on the same provider: a second worker as far as fencing goes.
  std::unique_ptr<TokenMint> register_another();

  // Starting. All with name kFlow, version kVersion, queue kQueue. Failures fail the test.
  StartOrchestration start_request(const std::string& id);
  OrchestrationStarted start(const std::string& id);
  OrchestrationStarted start(StartOrchestration request);

  // Locking. Serves kFlow/kVersion in kQueue with this test's epoch unless told otherwise.
  FetchOrchestrationItems fetch_request(std::size_t count);
  std::vector<OrchestrationItem> lock_up_to(std::size_t count);
  std::optional<OrchestrationItem> try_lock();    ///< one instance, or nullopt when none is ready
  OrchestrationItem lock();                       ///< one instance; its absence fails the test
  OrchestrationItem lock(const std::string& id);  ///< lock() and checks that it is this one

  // Turns. `turn` fills the fence only; add what the turn decided.
  TurnCommit turn(const OrchestrationItem& item);
  HistoryEvent next_event(const OrchestrationItem& item, const TurnCommit& commit, EventKind kind);
  /// Appends the scheduling event and the work row; answers the event id.
  EventId schedule(TurnCommit& commit, const OrchestrationItem& item, NewWork work = {});
  EventId schedule_timer(TurnCommit& commit,
                         const OrchestrationItem& item,
                         TimePoint due,
                         bool shielded = false);
  EventId schedule_child(TurnCommit& commit,
                         const OrchestrationItem& item,
                         const std::string& id,
                         ClosePolicy policy = ClosePolicy::kCancel,
                         bool shielded = false);
  /// Adds status and terminal event; continued_as_new also sets `next` with empty input.
  void finish(TurnCommit& commit, const OrchestrationItem& item, ExecutionStatus status);
  Result<TurnCommitted> try_commit(TurnCommit commit);
  TurnCommitted commit(TurnCommit commit);  ///< must succeed
  void abandon(const OrchestrationItem& item,
               Duration delay = {},
               Charge charge = Charge::kDeferral,
               BlockedReason blocked = BlockedReason::kNone);

  // Whole steps in one word.
  /// Starts an instance and commits a first turn that schedules `count` activities (kTask, inputs
  /// "0", "1" ..). Answers the locked item of that turn (its lock is released).
  OrchestrationItem start_with_work(const std::string& id, int count, NewWork like = {});
  /// Starts `id` and commits a first turn that does nothing else.
  OrchestrationItem start_and_run(const std::string& id);
  /// Locks `parent` (which must be ready) and starts a child of it; both have had a turn
  /// afterwards.
  void start_child_of(const std::string& parent,
                      const std::string& child,
                      ClosePolicy policy = ClosePolicy::kCancel,
                      bool shielded = false);
  /// Locks the instance and commits the given end.
  TurnCommitted end(const std::string& id, ExecutionStatus status);
  /// Makes `id` ready again by an event "poke".
  void poke(const std::string& id);

  // Work. Serves kTask in kQueue with this test's epoch unless told otherwise.
  FetchWorkItems claim_request(std::size_t count);
  std::vector<WorkItem> claim_up_to(std::size_t count);
  std::optional<WorkItem> try_claim();
  WorkItem claim();
  SettledWork settled(const WorkItem& item, WorkOutcome::Kind kind);
  Status try_settle(SettledWork work);
  Status try_complete(const WorkItem& item, const std::string& result = "\"done\"");
  Status try_fail(const WorkItem& item, const std::string& type = "boom");
  void complete(const WorkItem& item, const std::string& result = "\"done\"");
  ClaimState renew(const WorkItem& item, Duration lock_for = kLock);
  ClaimState check(const WorkItem& item);

  // Clients.
  CancelAnswer cancel(const std::string& id, const std::string& reason = "because");
  CancelAnswer terminate(const std::string& id, const std::string& reason = "because");
  EventDelivery raise(const std::string& id,
                      const std::string& name,
                      const std::string& payload = "null");

  // Reading.
  InstanceInfo info(const std::string& id);
  ExecutionStatus status(const std::string& id) { return info(id).current.status; }
  std::vector<HistoryEvent> history(const std::string& id);
  std::vector<HistoryEvent> history(InstanceKey key, ExecutionNo execution);
  static std::vector<EventKind> kinds(const std::vector<HistoryEvent>& events);
  static std::vector<MessageKind> kinds(const std::vector<Message>& messages);

 private:
  std::unique_ptr<StoreUnderTest> store_;
  std::unique_ptr<TokenMint> mint_;
};

/// Names the parameter in test names: "file", "memory".
std::string store_name(const ::testing::TestParamInfo<StoreParam>& info);

/// Instantiates a suite for every store of the executable.
#define PERDURE_CONFORMANCE_SUITE(Suite)                                          \
  INSTANTIATE_TEST_SUITE_P(Conformance,                                           \
                           Suite,                                                 \
                           ::testing::ValuesIn(::perdure::conformance::stores()), \
                           ::perdure::conformance::store_name)

/// The same for suites that need a second process: only stores that can be shared.
#define PERDURE_SHARED_CONFORMANCE_SUITE(Suite)                                          \
  INSTANTIATE_TEST_SUITE_P(Conformance,                                                  \
                           Suite,                                                        \
                           ::testing::ValuesIn(::perdure::conformance::shared_stores()), \
                           ::perdure::conformance::store_name);                          \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite)

}  // namespace perdure::conformance
