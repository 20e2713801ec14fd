#include "cli/amounts.h"

#include <array>
#include <span>
#include <string_view>

namespace perdure::cli {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

struct AmountUnit {
  std::string_view name;
  std::int64_t size;
};

// The largest first; in the last every amount is whole.
constexpr std::array kTimeUnits = {AmountUnit{"d", to_micros(hours(24))},
                                   AmountUnit{"h", to_micros(hours(1))},
                                   AmountUnit{"min", to_micros(minutes(1))},
                                   AmountUnit{"s", to_micros(seconds(1))},
                                   AmountUnit{"ms", 1'000},
                                   AmountUnit{"us", 1}};

constexpr std::array kByteUnits = {AmountUnit{"GiB", std::int64_t{1} << 30U},
                                   AmountUnit{"MiB", std::int64_t{1} << 20U},
                                   AmountUnit{"KiB", std::int64_t{1} << 10U},
                                   AmountUnit{"B", 1}};

std::string in_units(std::int64_t amount, std::span<const AmountUnit> units) {
  if (amount == 0) return "0";
  for (const AmountUnit& unit : units) {
    if (amount % unit.size == 0) {
      return count_amount(amount / unit.size) + " " + std::string(unit.name);
    }
  }
  return std::to_string(amount);
}

}  // namespace

std::string time_amount(Duration time) {
  return in_units(to_micros(time), kTimeUnits);
}

std::string byte_amount(std::size_t bytes) {
  return in_units(static_cast<std::int64_t>(bytes), kByteUnits);
}

std::string count_amount(std::int64_t count) {
  constexpr int kGroup = 3;
  std::string text = std::to_string(count);
  for (auto at = static_cast<int>(text.size()) - kGroup; at > 0; at -= kGroup) {
    text.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return text;
}

}  // namespace perdure::cli
