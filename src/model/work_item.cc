#include "model/work_item.h"

#include <array>

namespace perdure {

namespace {

constexpr auto kWorkStates = std::to_array<CodeRow<WorkState>>({
    {WorkState::kReady, "ready"},
    {WorkState::kDelayed, "delayed"},
    {WorkState::kClaimed, "claimed"},
    {WorkState::kHeld, "held"},
});

constexpr auto kOnCancels = std::to_array<CodeRow<OnCancel>>({
    {OnCancel::kTryCancel, "try_cancel"},
    {OnCancel::kWait, "wait"},
    {OnCancel::kAbandon, "abandon"},
});

constexpr auto kOwnerKinds = std::to_array<CodeRow<OwnerKind>>({
    {OwnerKind::kNobody, "nobody"},
    {OwnerKind::kActivity, "activity"},
});

}  // namespace

std::span<const CodeRow<WorkState>> CodeTable<WorkState>::rows() {
  return kWorkStates;
}

std::span<const CodeRow<OnCancel>> CodeTable<OnCancel>::rows() {
  return kOnCancels;
}

std::span<const CodeRow<OwnerKind>> CodeTable<OwnerKind>::rows() {
  return kOwnerKinds;
}

}  // namespace perdure
