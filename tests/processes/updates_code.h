#pragma once

#include <string>

#include <perdure/perdure.h>

/// A run that many processes change.
namespace perdure::test {

/// What the caller of `take_in` gets.
struct Receipt {
  int doubled = 0;   ///< twice what was sent
  int position = 0;  ///< how many there were then, itself included
};
PERDURE_JSON(Receipt, doubled, position)

inline constexpr Orchestration<int()> ledger{"ledger"};  ///< gives the number of its entries
inline constexpr Update<Receipt(int)> take_in{"take_in"};
inline constexpr Signal<void> close_ledger{"close_ledger"};
inline constexpr Query<int()> entries{"entries"};

inline constexpr int kSenders = 4;
inline constexpr int kUpdates = 100;  ///< of all senders together; some are sent by two of them

inline std::string update_id(int update) {
  return "update-" + std::to_string(update);
}

}  // namespace perdure::test
