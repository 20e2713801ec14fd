#pragma once

#include <string>
#include <vector>

#include <perdure/perdure.h>

/// The example of the guide: an order that wants approval, is charged and shipped.
namespace perdure::test {

struct Order {
  std::string id, card;
  int cents = 0;
};
struct Receipt {
  std::string id;
};
PERDURE_JSON(Order, id, card, cents)
PERDURE_JSON(Receipt, id)

inline constexpr Activity<Receipt(Order)> charge{"charge"};
inline constexpr Activity<void(Receipt)> refund{"refund"};
inline constexpr Activity<std::string(Order)> ship{"ship"};
inline constexpr Orchestration<std::string(Order)> checkout{"checkout"};
inline constexpr Event<bool> approved{"approved"};

struct Progress {
  std::string stage = "approval";
  std::vector<std::string> notes;
};

Task<std::string> run_checkout(OrchestrationContext& ctx, Order order, Progress& progress);

/// What the activities of a shop did.
struct Ledger {
  std::vector<std::string> charged, refunded, shipped, keys;
};

/// Its activities write into `ledger`, which must outlive what runs them.
Registry shop(Ledger& ledger);

Order small_order();
Order big_order();

}  // namespace perdure::test
