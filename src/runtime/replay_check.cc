#include "runtime/replay_check.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "runtime/fresh_frames.h"
#include "runtime/histories.h"
#include "runtime/turn_code.h"

namespace perdure::runtime {

/// The replay of a turn and the frames that it is compared with.
class ReplayCheck::Code final : public UserCode {
 public:
  Code(CodeOwner whose, FrameRecipe made_anew, std::unique_ptr<replay::Execution> kept)
      : UserCode(std::move(whose)), frames(std::move(kept)), recipe_(std::move(made_anew)) {}

  void run() override {
    const auto replayed = fresh_frames(recipe_.item,
                                       recipe_.main,
                                       recipe_.limits,
                                       *recipe_.random,
                                       std::move(recipe_.history),
                                       true);
    warnings = replayed->take_warnings();
    difference = frames->difference_to(*replayed);
  }
  void discard() noexcept override { frames.reset(); }

  std::unique_ptr<replay::Execution> frames;
  std::vector<std::string> warnings;
  std::optional<replay::Mismatch> difference;

 private:
  FrameRecipe recipe_;
};

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
  std::vector<const CachedTurn*> readable;
  std::vector<std::shared_ptr<Code>> codes;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    if (!histories[i].ok()) {
      parts_.frames.note_check(ReplayCheckResult::kUnread);
      continue;
    }
    const CachedTurn& turn = turns[i];
    FrameRecipe recipe{turn.item,
                       &turn.main,
                       &parts_.random,
                       options_.of_execution(),
                       std::move(histories[i]).value()};
    readable.push_back(&turn);
    codes.push_back(
        std::make_shared<Code>(owner_of(turn.item, &turn.main, options_.deadlock_timeout),
                               std::move(recipe),
                               std::move(turn.frames)));
  }
  for (std::size_t done = 0; done < codes.size();) {
    const auto first = static_cast<std::ptrdiff_t>(done);
    const TurnRunner::Ran ran = parts_.runner.run({codes.begin() + first, codes.end()});
    const std::size_t ended = done + ran.through - (ran.stuck ? 1 : 0);
    for (; done < ended; ++done) note(*readable[done], *codes[done]);
    if (ran.stuck) {
      codes[done++].reset();
      parts_.frames.note_check(ReplayCheckResult::kUnread);
    }
    if (!parts_.runner.hurried()) continue;
    for (; done < codes.size(); ++done) readable[done]->frames = std::move(codes[done]->frames);
  }
}

void ReplayCheck::note(const CachedTurn& turn, Code& code) {
  for (const std::string& warning : code.warnings) {
    log::warning("a replay check: " + warning,
                 {{"instance", turn.item.id}, {"orchestration", turn.item.name}});
  }
  const auto& difference = code.difference;
  parts_.frames.note_check(difference ? ReplayCheckResult::kDiffers : ReplayCheckResult::kSame);
  if (!difference) {
    turn.frames = std::move(code.frames);
    return;
  }
  code.frames.reset();
  log::error("a replay differs from the frames that were kept, which are thrown away",
             {{"instance", turn.item.id},
              {"orchestration", turn.item.name},
              {"position", difference->position.value},
              {"expected", difference->expected},
              {"actual", difference->actual},
              {"hint", difference->hint}});
}

}  // namespace perdure::runtime
