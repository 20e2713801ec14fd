#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <perdure/testing.h>

#include "base/clock.h"
#include "base/random.h"
#include "provider/provider.h"
#include "provider/token_mint.h"
#include "runtime/activity_worker.h"
#include "runtime/attempts.h"
#include "runtime/frame_cache.h"
#include "runtime/housekeeper.h"
#include "runtime/orchestration_dispatcher.h"
#include "runtime/sleeper.h"
#include "testing/faulty_provider.h"

namespace perdure::testing::detail {

/// A handler that sleeps moves the clock: nobody else can on its one thread.
class VirtualSleeper final : public runtime::Sleeper {
 public:
  explicit VirtualSleeper(VirtualClock& clock) : clock_(clock) {}
  void sleep_for(Duration time, const std::stop_token& stop) override {
    if (!stop.stop_requested() && time > Duration::zero()) clock_.advance(time);
  }

 private:
  VirtualClock& clock_;
};

/// What is behind a TestRuntime: the parts of the engine and the loop that drives them.
class TestEngine {
 public:
  TestEngine(const Registry& registry, const TestOptions& options);

  Provider& provider() { return *faulty_; }
  FaultyProvider& faults() { return *faulty_; }
  VirtualClock& clock() { return clock_; }
  runtime::Attempts& attempts() { return attempts_; }
  runtime::FrameCache& frames() { return frames_; }
  const TestOptions& options() const { return options_; }

  void run_until_idle();
  void advance(Duration time);

  void deploy(const Registry& registry);
  void replace(const std::string& name, perdure::detail::ActivityHandler handler);
  void fail_attempts(const std::string& name, int attempts, const Failure& failure);
  /// Whether the code that is deployed has this name and version.
  bool serves(const std::string& name, const std::string& version) const;

 private:
  struct Served {
    std::unique_ptr<runtime::OrchestrationDispatcher> dispatcher;
    std::unique_ptr<runtime::ActivityWorker> worker;
  };

  void serve_queues();
  bool step();
  bool take(const runtime::Step& step);
  std::string run_activity(const std::string& name,
                           perdure::detail::AttemptApi& api,
                           const std::string& input);
  void declare_signals();
  void add_activity(const std::string& name);

  const TestOptions options_;
  VirtualClock clock_;
  SeededRandom random_{1};
  VirtualSleeper sleeper_{clock_};
  runtime::Attempts attempts_;
  std::unique_ptr<Provider> store_;
  std::unique_ptr<FaultyProvider> faulty_;
  std::optional<Epoch> declares_;  // the registration that says which signals the code takes
  std::unique_ptr<TokenMint> tokens_;

  std::map<std::string, perdure::detail::ActivityHandler> fakes_;
  std::map<std::string, std::deque<Failure>> failures_;
  std::shared_ptr<perdure::detail::HandlerTable> deployed_;
  std::unique_ptr<perdure::detail::HandlerTable> table_;  // with fakes and failures in between
  runtime::FrameCache frames_{{.count = 0}};              // after the table that frames refer to

  std::map<std::string, Served> queues_;
  std::unique_ptr<runtime::Housekeeper> housekeeper_;
  std::optional<TimePoint> next_at_;
  int handlers_running_ = 0;
};

}  // namespace perdure::testing::detail
