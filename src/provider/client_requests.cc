#include "provider/client_requests.h"

#include <array>

namespace perdure {

namespace {

constexpr auto kStartOutcomes = std::to_array<CodeRow<StartOutcome>>({
    {StartOutcome::kStarted, "started"},
    {StartOutcome::kExisting, "existing"},
    {StartOutcome::kPending, "pending"},
});

constexpr auto kEventDeliveries = std::to_array<CodeRow<EventDelivery>>({
    {EventDelivery::kDelivered, "delivered"},
    {EventDelivery::kBuffered, "buffered"},
    {EventDelivery::kNotFound, "not_found"},
    {EventDelivery::kEnded, "ended"},
    {EventDelivery::kUnknown, "unknown"},
});

}  // namespace

std::span<const CodeRow<StartOutcome>> CodeTable<StartOutcome>::rows() {
  return kStartOutcomes;
}

std::span<const CodeRow<EventDelivery>> CodeTable<EventDelivery>::rows() {
  return kEventDeliveries;
}

}  // namespace perdure
