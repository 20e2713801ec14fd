#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <perdure/perdure.h>

#include "base/random.h"
#include "replay/execution.h"

/// Histories that are long rather than varied, made without running the code.
namespace perdure::test {

inline constexpr Activity<void()> step{"step"};
/// Calls `step` so many times, one after the other; gives how many completed.
inline constexpr Orchestration<std::int64_t(std::int64_t)> stepper{"stepper"};

/// An execution of `registry`'s orchestration `name`, with frames from `history`.
class LongRun {
 public:
  LongRun(const Registry& registry,
          std::string_view name,
          std::vector<HistoryEvent> history,
          bool had_turn = true);

  replay::Execution& execution() { return *execution_; }
  replay::TurnResult turn(std::vector<Message> messages = {});
  /// Destroys the frames.
  void evict() { execution_.reset(); }

 private:
  Registry registry_;
  SeededRandom random_{1};
  TimePoint now_;
  std::unique_ptr<replay::Execution> execution_;
};

HistoryEvent started(std::string_view name, std::string input);
Message answer(MessageKind kind, EventId source);

/// Adds the orchestration `stepper`.
void add_stepper(Registry& registry);
/// A history of `stepper` in which `steps` calls were made and all but the last were answered:
/// 2 * steps events.
std::vector<HistoryEvent> stepper_history(std::int64_t steps);

}  // namespace perdure::test
