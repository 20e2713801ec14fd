#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <perdure/perdure.h>

#include "base/random.h"
#include "replay/execution.h"

namespace perdure::test {

/// One execution of the only orchestration of a registry, without a store: turns in memory.
class FrameSample {
 public:
  explicit FrameSample(Registry registry, std::string input = "null")
      : registry_(std::move(registry)), main_(*registry_.table()->orchestrations().at(0)) {
    HistoryEvent started;
    started.id = EventId{1};
    started.name = main_.name;
    started.payload = std::move(input);
    history_.push_back(std::move(started));
    frames_ = replayed(false);
    turn({});
  }

  /// A turn with these messages.
  void turn(std::vector<Message> messages) {
    now_ += std::chrono::seconds(1);
    replay::TurnResult result = frames_->turn(std::move(messages), now_);
    for (HistoryEvent& event : result.decisions.events) history_.push_back(std::move(event));
  }
  /// A turn that brings the result of the call that event `source` made.
  void complete(std::int64_t source, std::string result) {
    turn({completed(source, std::move(result))});
  }
  static Message completed(std::int64_t source, std::string result) {
    Message message;
    message.kind = MessageKind::kActivityCompleted;
    message.execution = ExecutionNo{1};
    message.source = EventId{source};
    message.payload = std::move(result);
    return message;
  }
  static Message raised(std::string name, std::string payload) {
    Message message;
    message.kind = MessageKind::kEventRaised;
    message.name = std::move(name);
    message.payload = std::move(payload);
    return message;
  }

  /// Frames made anew from the history.
  std::unique_ptr<replay::Execution> replayed(bool had_turn = true) {
    auto frames = std::make_unique<replay::Execution>(
        replay::ExecutionSpec{"sample", ExecutionNo{1}, main_.name, main_.version, "default"},
        main_,
        replay::ExecutionOptions{},
        random_);
    frames->replay(history_, had_turn);
    return frames;
  }

  std::size_t bytes() const { return frames_->bytes(); }
  const replay::Execution& frames() const { return *frames_; }
  EventId last_event() const { return frames_->last_event(); }
  std::unique_ptr<replay::Execution> release() { return std::move(frames_); }

 private:
  const Registry registry_;
  const detail::OrchestrationHandler& main_;
  SeededRandom random_{5};
  TimePoint now_{std::chrono::hours(500'000)};
  std::vector<HistoryEvent> history_;
  std::unique_ptr<replay::Execution> frames_;
};

}  // namespace perdure::test
