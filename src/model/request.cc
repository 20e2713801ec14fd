#include "model/request.h"

#include <array>

namespace perdure {

namespace {

constexpr auto kRequestKinds = std::to_array<CodeRow<RequestKind>>({
    {RequestKind::kStart, "start"},
    {RequestKind::kRaiseEvent, "raise_event"},
    {RequestKind::kCancel, "cancel"},
    {RequestKind::kTerminate, "terminate"},
    {RequestKind::kDelete, "delete"},
    {RequestKind::kDeleteEnded, "delete_ended"},
    {RequestKind::kPrune, "prune"},
    {RequestKind::kSignal, "signal"},
    {RequestKind::kUpdate, "update"},
    {RequestKind::kQuery, "query"},
});

constexpr auto kRequestStages = std::to_array<CodeRow<RequestStage>>({
    {RequestStage::kWaiting, "waiting"},
    {RequestStage::kAccepted, "accepted"},
    {RequestStage::kAnswered, "answered"},
    {RequestStage::kRefused, "refused"},
    {RequestStage::kFailed, "failed"},
    {RequestStage::kRejected, "rejected"},
    {RequestStage::kCut, "cut"},
});

constexpr auto kChangeKinds = std::to_array<CodeRow<ChangeKind>>({
    {ChangeKind::kStatus, "status"},
    {ChangeKind::kDeleted, "deleted"},
});

}  // namespace

std::span<const CodeRow<RequestKind>> CodeTable<RequestKind>::rows() {
  return kRequestKinds;
}

std::span<const CodeRow<RequestStage>> CodeTable<RequestStage>::rows() {
  return kRequestStages;
}

std::span<const CodeRow<ChangeKind>> CodeTable<ChangeKind>::rows() {
  return kChangeKinds;
}

}  // namespace perdure
