#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "provider/provider.h"
#include "runtime/attempt.h"
#include "runtime/attempts.h"
#include "runtime/step.h"
#include "runtime/suspects.h"

namespace perdure::runtime {

/// Takes the ends of attempts to the store, in batches, until the store has answered. Trouble with
/// the store loses none: they are sent again, and the tokens of their claims see to it that each
/// counts once. A refused one (the call was canceled, or is somebody else's now) is dropped.
/// A crash before the answer: the claim lapses, the attempt is made again.
/// Threading: `add` on any thread, `poll_once` on one.
class Settler {
 public:
  /// What it works with. Not used after `close()`.
  struct Parts {
    Provider& provider;
    Attempts& attempts;
    Suspects& suspects;
  };

  explicit Settler(Parts parts, std::size_t batch = 128) : parts_(parts), batch_(batch) {}

  /// The attempt has ended so; whoever calls it has settled the attempt. Dropped after `close()`.
  void add(std::shared_ptr<Attempt> attempt, WorkOutcome outcome);

  /// Sends one batch. Trouble: the batch is sent again by the next call.
  Step poll_once();

  /// Waits until there is something to send, `wake()` is called or the time is over.
  void wait(std::chrono::milliseconds bound);
  void wake();
  /// Nothing is on its way.
  bool empty() const;
  /// From now on outcomes are dropped and nothing is sent: the registration has ended.
  void close();

 private:
  struct Ended {
    std::shared_ptr<Attempt> attempt;
    WorkOutcome outcome;
    bool unsure = false;  // it may be in the store already
  };

  std::deque<Ended> take();
  Result<Batch<void>> send(const std::deque<Ended>& ended);
  void put_back(std::deque<Ended> ended);
  void done(const Ended& ended, const Result<void>& answer);

  Parts parts_;
  const std::size_t batch_;

  mutable std::mutex mutex_;
  std::condition_variable added_;
  // Guarded by mutex_.
  std::deque<Ended> waiting_;
  bool sending_ = false;
  bool woken_ = false;
  bool closed_ = false;
};

}  // namespace perdure::runtime
