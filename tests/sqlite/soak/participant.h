#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "provider/sqlite/options.h"
#include "provider/token_mint.h"
#include "tests/sqlite/soak/flow.h"
#include "tests/sqlite/soak/ledger.h"

namespace perdure::sqlite::soak {

/// A process that uses the store as an engine would, with several threads: clients start, raise and
/// cancel; others take turns, do work and keep house. Every write is noted before it is submitted,
/// and its answer after it has come.
///
/// An answer that cannot be right ends the process with an error.
class Participant {
 public:
  struct Options {
    Side side = Side::kVictim;
    std::string store;
    Durability durability = Durability::kFull;
    std::uint64_t seed = 1;
    /// Epochs of the dead are ended by takeover; otherwise only the odd ones, and what the others
    /// held has to expire.
    bool take_over_all = false;
  };

  Participant(Options options, Ledger& ledger);
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  ~Participant();

  /// Repeats what the dead have begun and not seen answered, and makes the calls that their runs
  /// still wait for. `sides` are those that are dead.
  void carry_on_for(const std::vector<Side>& sides);

  /// Each thread rests for `pause` after each call.
  void run_clients(int threads, std::chrono::milliseconds pause);
  void run_workers(int threads);
  void run_housekeeping();
  /// Copies the log now and then, so that kills hit checkpoints too.
  void run_copies();

 private:
  using Body = std::function<void(Random&)>;

  void run_thread(Body body);
  template <class Request>
  auto ask(Request request);
  /// Notes how an entry was answered. Whatever is neither ok nor `expected` ends the process.
  void note(std::int64_t number, const Status& answer, std::initializer_list<ErrorCode> expected);

  void call_once(Random& random);
  void start(std::int64_t number, char flavour);
  void raise(std::int64_t number, std::int64_t run);
  void cancel(std::int64_t number, std::int64_t run);
  void repeat(const NumberedNote& begun);
  void make_up(std::int64_t run, char flavour, int calls);
  std::int64_t begin_call(What what, char flavour, std::int64_t run);

  bool take_turns();
  bool do_work(Random& random);
  void keep_house();
  void abandon(const std::vector<AbandonedOrchestrationItem>& items);
  std::vector<HistoryEvent> history(const OrchestrationItem& item);

  const Options options_;
  Ledger& ledger_;
  std::unique_ptr<Provider> store_;
  std::unique_ptr<TokenMint> mint_;
  std::atomic<bool> stopped_{false};
  std::vector<std::thread> threads_;
};

}  // namespace perdure::sqlite::soak
