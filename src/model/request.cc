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
});

constexpr auto kChangeKinds = std::to_array<CodeRow<ChangeKind>>({
    {ChangeKind::kStatus, "status"},
    {ChangeKind::kDeleted, "deleted"},
});

}  // namespace

std::span<const CodeRow<RequestKind>> CodeTable<RequestKind>::rows() {
  return kRequestKinds;
}

std::span<const CodeRow<ChangeKind>> CodeTable<ChangeKind>::rows() {
  return kChangeKinds;
}

}  // namespace perdure
