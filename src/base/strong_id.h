#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <ostream>

namespace perdure {

/// A value whose type says what it identifies, so that swapped arguments do not compile:
/// `using StepSeq = StrongId<struct StepSeqTag, std::int64_t>; StepSeq seq{3};`
template <class Tag, class Rep>
struct StrongId {
  using rep = Rep;

  Rep value{};

  auto operator<=>(const StrongId&) const = default;
};

template <class Tag, class Rep>
std::ostream& operator<<(std::ostream& out, const StrongId<Tag, Rep>& id) {
  return out << id.value;
}

}  // namespace perdure

template <class Tag, class Rep>
struct std::hash<perdure::StrongId<Tag, Rep>> {
  std::size_t operator()(const perdure::StrongId<Tag, Rep>& id) const
      noexcept(noexcept(std::hash<Rep>{}(id.value))) {
    return std::hash<Rep>{}(id.value);
  }
};
