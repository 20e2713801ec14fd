#pragma once

#include <cstddef>

namespace perdure::runtime {

/// Stands for a value of any type where nothing is evaluated.
struct AnyValue {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): members are initialized from it
};

/// How many members an aggregate has, taken from the compiler: a table that must name all of them
/// can be compared with it. Requires: no member that is an array of C.
template <class Aggregate, class... Given>
constexpr std::size_t member_count() {
  if constexpr (requires { Aggregate{Given{}..., AnyValue{}}; }) {
    return member_count<Aggregate, Given..., AnyValue>();
  } else {
    return sizeof...(Given);
  }
}

}  // namespace perdure::runtime
