#pragma once

#include <type_traits>

namespace perdure::detail {

/// g++ 12 destroys a temporary of an aggregate or closure type inside a `co_await` expression
/// twice, unless its destructor is trivial. A call cannot tell whether it stands in such an
/// expression, so what it takes must be safe in one.
template <class Arg>
inline constexpr bool kSafeArgument =
    std::is_lvalue_reference_v<Arg> || std::is_trivially_destructible_v<std::remove_cvref_t<Arg>> ||
    !std::is_aggregate_v<std::remove_cvref_t<Arg>>;

/// The same for callables: a closure cannot be told from another class, so none may own anything.
template <class F>
inline constexpr bool kSafeCallable =
    std::is_lvalue_reference_v<F> || std::is_trivially_destructible_v<std::remove_cvref_t<F>>;

template <class From, class To>
constexpr bool stands_for() {
  using Given = std::remove_cv_t<std::decay_t<From>>;
  if constexpr (!std::is_convertible_v<From, To>) {
    return false;
  } else if constexpr (std::is_same_v<To, bool>) {
    return std::is_same_v<Given, bool> || std::is_class_v<Given>;
  } else if constexpr (std::is_integral_v<To>) {
    return !std::is_floating_point_v<Given>;
  } else {
    return true;
  }
}

/// True when `From` may stand for a `To`: it converts, and nothing is lost by its type alone.
/// Whether an integer fits is seen when its value is known.
template <class From, class To>
inline constexpr bool kStandsFor = stands_for<From, To>();

template <class>
inline constexpr bool kNever = false;

#define PERDURE_DETAIL_NAME_IT                                                                  \
  "perdure: name this value on the line before and pass the name: g++ 12 destroys a temporary " \
  "aggregate or closure inside a co_await expression twice"

}  // namespace perdure::detail
