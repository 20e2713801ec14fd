#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.h"
#include "provider/provider.h"
#include "provider/sqlite/options.h"
#include "provider/token_mint.h"

/// A store with a registered process, and short words to bring it into a state. The same words give
/// the same rows in every process: time is virtual and keys are counted.
namespace perdure::sqlite::crash {

using namespace std::chrono_literals;

inline constexpr const char* kQueue = "default";
inline constexpr const char* kFlow = "flow";
inline constexpr const char* kVersion = "1";
inline constexpr const char* kTask = "task";
inline constexpr Duration kLock = 30s;

/// What cannot go on ends by exception; a test fails by it, a child exits with an error.
template <class T>
T value_of(Result<T> result, const char* what) {
  if (!result.ok()) throw std::runtime_error(std::string(what) + ": " + result.error().message);
  return std::move(result).value();
}
void expect_ok(const Status& status, const char* what);

/// The first entry that was refused, or ok.
template <class T>
Status status_of(const Result<T>& answer) {
  return answer.ok() ? Status() : Status(answer.error());
}
template <class T>
Status status_of(const Result<Batch<T>>& answer) {
  if (!answer.ok()) return answer.error();
  for (const Result<T>& entry : *answer) {
    if (!entry.ok()) return entry.error();
  }
  return {};
}

/// Who drives the writer of a store: a thread of its own, or each call.
enum class Driver : std::uint8_t { kThread, kCalls };

std::unique_ptr<Provider> open_store(const std::string& path,
                                     Clock& clock,
                                     Durability durability,
                                     Driver driver = Driver::kThread);

StartOrchestration start_request(const std::string& id, const std::string& input = "null");

/// A turn that is being put together.
struct Turn {
  explicit Turn(const OrchestrationItem& locked);

  EventId event(EventKind kind, EventId source = {}, const std::string& payload = {});
  EventId signal(const std::string& name, EventId source, std::int64_t number);
  EventId work(NewWork like = {});
  EventId timer(TimePoint due);
  EventId child(const std::string& id, ClosePolicy policy = ClosePolicy::kCancel);
  /// A run that is not linked to this one.
  EventId detached(const std::string& id);
  /// The last word of a turn; continued_as_new sets `next` too.
  void end(ExecutionStatus status);

  OrchestrationItem item;
  TurnCommit commit;
};

class World {
 public:
  World(const std::string& path, Durability durability, Driver driver = Driver::kThread);

  Provider& store() { return *store_; }
  VirtualClock& clock() { return clock_; }
  TimePoint now() const { return clock_.now(); }
  Epoch epoch() const { return mint_->epoch(); }
  /// Later locks and claims are those of a new registration; answers the former one.
  Epoch register_another();
  /// One beside it, whose code of kFlow takes this signal; answers it.
  Epoch register_declaring(const std::string& signal);

  void start(const std::string& id);
  /// Locks all that is ready, and answers this one of all that is locked; with queries to an
  /// execution that has ended only when no live one has the id.
  OrchestrationItem lock(const std::string& id);
  void commit(const Turn& turn);
  /// Starts `id` and commits a turn that waits for a timer of one hour.
  void start_waiting(const std::string& id);
  /// Locks `parent`, starts a child that waits likewise.
  void start_waiting_child(const std::string& parent, const std::string& child);
  void raise(const std::string& id, const std::string& name);
  /// An update or a query to `id`, which may have ended; a query waits a minute for its answer.
  void ask(const std::string& id, RequestKind kind, const std::string& request);
  /// Locks `id` and ends it.
  void end(const std::string& id, ExecutionStatus status = ExecutionStatus::kCompleted);
  /// Writes beside the provider: a row that it cannot have written.
  void run_sql(const std::string& sql);
  /// Starts `id` and commits a turn that keeps this signal and waits likewise. Answers the event.
  EventId start_keeping(const std::string& id, const std::string& signal);
  /// Starts `id` and commits a turn with this work.
  void start_with_work(const std::string& id, const std::vector<NewWork>& work);
  std::vector<WorkItem> claim(std::size_t count);

  FetchOrchestrationItems fetch_request(std::size_t count);
  FetchWorkItems claim_request(std::size_t count);

  /// The process ends as at a return of main: its kernel locks are released.
  void close() { store_.reset(); }

 private:
  void register_process();

  VirtualClock clock_;
  std::unique_ptr<Provider> store_;
  std::unique_ptr<TokenMint> mint_;
  std::map<std::string, OrchestrationItem> locked_;
};

}  // namespace perdure::sqlite::crash
