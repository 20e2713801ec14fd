#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <perdure/detail/handler_table.h>

#include "base/random.h"
#include "provider/orchestration_requests.h"
#include "replay/execution.h"
#include "runtime/user_code.h"

namespace perdure::runtime {

/// How the frames of a turn are brought back when they were not kept.
struct FrameRecipe {
  OrchestrationItem item;                              ///< without its messages
  const detail::OrchestrationHandler* main = nullptr;  ///< null: without code
  Random* random = nullptr;
  replay::ExecutionOptions limits;
  std::vector<HistoryEvent> history;
  /// The run is canceled and its time for cleanup is over: what cannot run with its code is ended
  /// without it.
  bool past_cleanup = false;
};

/// Whose code `main` is for `item`; `limit` is that of the queue. Without `main` no user code runs.
CodeOwner owner_of(const OrchestrationItem& item,
                   const detail::OrchestrationHandler* main,
                   Duration limit);

/// A turn of an execution that has ended which fails the queries with these ids.
replay::TurnResult fail(const std::vector<std::string>& queries, const Failure& failure);

/// The user code of one turn: the replay, when there are no frames, and the turn. With kept frames
/// or a recipe in; the frames and what the turn decided come out.
class TurnCode final : public UserCode {
 public:
  TurnCode(CodeOwner whose, std::vector<Message> messages, TimePoint now)
      : UserCode(std::move(whose)), messages_(std::move(messages)), now_(now) {}

  void run() override;
  void discard() noexcept override;

  std::optional<FrameRecipe> recipe;  ///< set when there are no frames
  std::unique_ptr<replay::Execution> frames;
  /// Set: why the run is wound down without its code, from this turn on.
  std::string no_code;
  replay::TurnResult result;

 private:
  void make_frames();

  std::vector<Message> messages_;
  const TimePoint now_;
};

}  // namespace perdure::runtime
