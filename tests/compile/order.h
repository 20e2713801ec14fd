#pragma once

#include <chrono>
#include <coroutine>
#include <string>
#include <utility>
#include <vector>

#include <perdure/perdure.h>

/// Contracts that the cases share. Each case stands between `#ifdef BAD_<name>` and `#else` with
/// what must not compile, and has its twin, which must, behind `#else`; `wants:` is the message.
namespace perdure::test {

using namespace std::chrono_literals;

/// An aggregate that owns memory: what g++ 12 destroys twice.
struct Order {
  std::string id;
  int cents = 0;
};
PERDURE_JSON(Order, id, cents)

struct Receipt {
  std::string id;
};
PERDURE_JSON(Receipt, id)

inline constexpr Activity<Receipt(Order)> charge{"charge"};
inline constexpr Activity<void(Receipt)> refund{"refund"};
inline constexpr Activity<void(Order)> unorder{"unorder"};
inline constexpr Activity<int(int)> twice{"twice"};
inline constexpr Activity<void(bool)> toggle{"toggle"};
inline constexpr Activity<int()> count{"count"};
inline constexpr Orchestration<Receipt(Order)> checkout{"checkout"};
inline constexpr Orchestration<int(int)> counter{"counter"};
inline constexpr Event<bool> approved{"approved"};

}  // namespace perdure::test
