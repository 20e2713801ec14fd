#include "runtime/turn_code.h"

#include "replay/wind_down.h"
#include "runtime/fresh_frames.h"
#include "runtime/served.h"

namespace perdure::runtime {

CodeOwner owner_of(const OrchestrationItem& item,
                   const detail::OrchestrationHandler* main,
                   Duration limit) {
  CodeOwner owner{item.instance, item.id, item.name, {}};
  if (main != nullptr) owner.limit = main->options.deadlock_timeout.value_or(limit);
  return owner;
}

replay::TurnResult fail(const std::vector<std::string>& queries, const Failure& failure) {
  replay::TurnResult result;
  for (const std::string& query : queries) {
    result.decisions.replies.push_back(
        {RequestKind::kQuery, query, RequestStage::kFailed, {}, failure});
  }
  return result;
}

void TurnCode::run() {
  if (recipe) make_frames();
  if (frames->mismatch()) {
    result.mismatch = frames->mismatch();
  } else {
    result = frames->turn(std::move(messages_), now_);
  }
}

/// With the code if it can run, else without. A run that was wound down once stays so: its code
/// has not seen what was recorded since.
void TurnCode::make_frames() {
  const auto fresh = [this](const detail::OrchestrationHandler* main,
                            std::vector<HistoryEvent> history) {
    return fresh_frames(recipe->item,
                        main,
                        recipe->limits,
                        *recipe->random,
                        std::move(history),
                        had_turn(recipe->item));
  };
  const bool wound_down = replay::wound_down_after(recipe->history).has_value();
  if (recipe->main != nullptr && !wound_down) {
    frames =
        fresh(recipe->main, recipe->past_cleanup ? recipe->history : std::move(recipe->history));
    if (!frames->mismatch() || !recipe->past_cleanup) return;
    no_code = to_string(*frames->mismatch());
  } else if (wound_down) {
    no_code.clear();
  } else if (no_code.empty()) {
    no_code = not_registered(recipe->item);
  }
  frames = fresh(nullptr, std::move(recipe->history));
}

void TurnCode::discard() noexcept {
  frames.reset();
  recipe.reset();
  result = {};
}

}  // namespace perdure::runtime
