#include "runtime/replay_check.h"

#include <string>
#include <utility>

#include "base/log.h"
#include "runtime/fresh_frames.h"
#include "runtime/histories.h"

namespace perdure::runtime {

bool ReplayCheck::picks() {
  const double fraction = options_.replay_check_fraction;
  if (fraction <= 0.0) return false;
  return fraction >= 1.0 || parts_.random.unit() < fraction;
}

void ReplayCheck::run(const std::vector<CachedTurn>& turns) {
  if (turns.empty()) return;
  std::vector<WantedHistory> wanted;
  wanted.reserve(turns.size());
  for (const CachedTurn& turn : turns) {
    wanted.push_back({turn.item.instance, turn.item.execution, turn.frames->last_event()});
  }
  auto histories = read_histories(parts_.provider, wanted, options_.history_page);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (histories[i].ok()) {
      compare(turns[i], std::move(histories[i]).value());
    } else {
      parts_.frames.note_check(ReplayCheckResult::kUnread);
    }
  }
}

void ReplayCheck::compare(const CachedTurn& turn, std::vector<HistoryEvent> history) {
  const auto replayed =
      fresh_frames(turn.item, &turn.main, options_, parts_.random, std::move(history), true);
  for (const std::string& warning : replayed->take_warnings()) {
    log::warning("a replay check: " + warning,
                 {{"instance", turn.item.id}, {"orchestration", turn.item.name}});
  }
  const auto difference = turn.frames->difference_to(*replayed);
  parts_.frames.note_check(difference ? ReplayCheckResult::kDiffers : ReplayCheckResult::kSame);
  if (!difference) return;
  turn.frames.reset();
  log::error("a replay differs from the frames that were kept, which are thrown away",
             {{"instance", turn.item.id},
              {"orchestration", turn.item.name},
              {"position", difference->position.value},
              {"expected", difference->expected},
              {"actual", difference->actual},
              {"hint", difference->hint}});
}

}  // namespace perdure::runtime
