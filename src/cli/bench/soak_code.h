#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include <perdure/contracts.h>

#include "cli/bench/bench_code.h"

namespace perdure {
class Registry;
}

/// The runs of a soak: trees of one orchestration that does what dice say, and so ends in every way
/// there is. The dice are thrown by its input, so a run does the same in every replay.
namespace perdure::bench {

/// Children below the one that was started, so many generations of them.
inline constexpr int kSoakGenerations = 3;

/// Calls activities of all kinds (quick, asleep, deaf to a cancel, endless until a timeout, failing
/// at first, awaited in a cancel, owing an undo) and children of its own kind, some of them
/// abandoned or with a timeout. Joins them, tolerates their failures, or races them against a
/// timer; then fails, continues as new or completes, maybe with calls outstanding.
inline constexpr Orchestration<Number(Number)> kSoakNode{"soak_node"};

/// What a node that was canceled calls to clean up, now and then.
inline constexpr Orchestration<Number(Number)> kSoakCleaner{"soak_cleaner"};

/// The input of a node.
Number soak_input(int generation, std::uint64_t seed);

/// What an activity of a soak ends with when its token fired before it returned: a result or a
/// failure of which the history of a run must never hear. Only of calls that a cancel ends at once.
inline constexpr Number kLateResult = -1;
inline constexpr std::string_view kLateFailure = "soak_late";

/// True for activities whose calls a cancel does not end: they may complete after it.
bool outlasts_cancel(std::string_view activity);

/// Handlers of a soak that run now. Shared with them.
struct SoakHandlers {
  std::atomic<std::int64_t> inside{0};
};

/// Adds the orchestration and its activities.
void add_soak_code(Registry& registry, const std::shared_ptr<SoakHandlers>& handlers);

}  // namespace perdure::bench
