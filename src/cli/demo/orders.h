#pragma once

#include <string>

#include <perdure/contracts.h>
#include <perdure/json.h>
#include <perdure/registry.h>

#include "cli/demo/report.h"

/// The shop of the demo: one orchestration and the activities that it calls.
namespace perdure::demo {

struct Order {
  std::string number;
  int cents = 0;
};
struct Receipt {
  std::string id;
  int cents = 0;
};
PERDURE_JSON(Order, number, cents)
PERDURE_JSON(Receipt, id, cents)

inline constexpr Activity<Receipt(Order)> charge{"charge"};
inline constexpr Activity<void(Receipt)> refund{"refund"};
inline constexpr Activity<void(Order)> pack{"pack"};
inline constexpr Activity<std::string(Order)> ship{"ship"};
inline constexpr Orchestration<std::string(Order)> fulfil{"fulfil_order"};

/// A queue of its own: the worker of the demo takes no work of others from a store that it shares.
inline constexpr const char* kQueue = "perdure_demo";

/// "order-1001": the id of the run.
std::string run_of(const Order& order);
/// "49.90".
std::string money(int cents);

/// All handlers. Each activity pretends to work for a second or so and tells how it goes; a cancel
/// stops it at once.
Registry orders(const Tell& tell);

}  // namespace perdure::demo
