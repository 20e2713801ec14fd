#pragma once

#include <concepts>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace perdure {

namespace internal {

/// An error inside a result. Its special members are not inline: they are the cold path of every
/// call, and g++ warns falsely of uninitialised reads when it inlines them.
struct HeldError {
  Error error;

  explicit HeldError(Error held) noexcept;
  HeldError(const HeldError& other);
  HeldError(HeldError&& other) noexcept;
  HeldError& operator=(const HeldError& other);
  HeldError& operator=(HeldError&& other) noexcept;
  ~HeldError();
};

/// Aborts, naming the error that was not handled.
[[noreturn]] void value_of_failed_result(const Error& error);
[[noreturn]] void error_of_successful_result();

}  // namespace internal

/// The answer of every call that can fail: a `T`, or the `Error` that says why there is none.
///
/// Reading the value of a failed result, or the error of a successful one, aborts. On an rvalue
/// `value()`, `*` and `error()` return by value, so no reference into a temporary can escape.
/// Threading: like `T`; no synchronisation of its own.
template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T>, "Result owns its value");
  static_assert(!std::same_as<std::remove_cv_t<T>, Error>, "an Error is never a value");

 public:
  using value_type = T;

  template <class U = T>
  requires(std::convertible_to<U&&, T> && !std::same_as<std::remove_cvref_t<U>, Result> &&
           !std::same_as<std::remove_cvref_t<U>, Error>)
      Result(U&& value)  // NOLINT(google-explicit-constructor): `return value;` is the point
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}

  Result(Error error)  // NOLINT(google-explicit-constructor): `return error;` is the point
      : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & {
    require_value();
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T value() && {
    require_value();
    return std::move(*std::get_if<0>(&state_));
  }

  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  template <class U>
  T value_or(U&& fallback) const& {
    return ok() ? value() : static_cast<T>(std::forward<U>(fallback));
  }
  template <class U>
  T value_or(U&& fallback) && {
    return ok() ? std::move(*this).value() : static_cast<T>(std::forward<U>(fallback));
  }

  const Error& error() const& {
    require_error();
    return std::get_if<1>(&state_)->error;
  }
  Error error() && {
    require_error();
    return std::move(std::get_if<1>(&state_)->error);
  }

  /// The error's code. Requires: not ok.
  ErrorCode code() const { return error().code; }

  /// Prints the value when it can be printed, else "ok"; or the error.
  friend std::ostream& operator<<(std::ostream& out, const Result& result) {
    if (!result.ok()) return out << result.error();
    if constexpr (requires { out << result.value(); }) {
      return out << result.value();
    } else {
      return out << "ok";
    }
  }

 private:
  void require_value() const {
    if (!ok()) [[unlikely]]
      internal::value_of_failed_result(std::get_if<1>(&state_)->error);
  }
  void require_error() const {
    if (ok()) [[unlikely]]
      internal::error_of_successful_result();
  }

  std::variant<T, internal::HeldError> state_;
};

/// Success without a value, or the `Error` that says why not.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  static Result success() { return {}; }

  Result(Error error)  // NOLINT(google-explicit-constructor): `return error;` is the point
      : error_(std::move(error)) {}

  bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  /// Aborts with the error's message when not ok.
  void value() const {
    if (!ok()) [[unlikely]]
      internal::value_of_failed_result(error_->error);
  }

  const Error& error() const& {
    require_error();
    return error_->error;
  }
  Error error() && {
    require_error();
    return std::move(error_->error);
  }

  /// The error's code. Requires: not ok.
  ErrorCode code() const { return error().code; }

  friend std::ostream& operator<<(std::ostream& out, const Result& result) {
    return result.ok() ? out << "ok" : out << result.error();
  }

 private:
  void require_error() const {
    if (ok()) [[unlikely]]
      internal::error_of_successful_result();
  }

  std::optional<internal::HeldError> error_;
};

using Status = Result<void>;

}  // namespace perdure

#define PERDURE_INTERNAL_JOIN_(a, b) a##b
#define PERDURE_INTERNAL_JOIN(a, b) PERDURE_INTERNAL_JOIN_(a, b)

/// Returns the error of a `Status` or `Result` from the enclosing function, when it has one.
#define PERDURE_RETURN_IF_ERROR(...)                                              \
  do {                                                                            \
    auto PERDURE_INTERNAL_JOIN(perdure_status_, __LINE__) = (__VA_ARGS__);        \
    if (!PERDURE_INTERNAL_JOIN(perdure_status_, __LINE__).ok()) {                 \
      return std::move(PERDURE_INTERNAL_JOIN(perdure_status_, __LINE__)).error(); \
    }                                                                             \
  } while (false)

/// `PERDURE_ASSIGN_OR_RETURN(auto row, load(id));` declares or assigns the value, or returns the
/// error from the enclosing function. Expands to several statements: not for a brace-less `if`.
/// The declaration must hold no comma outside parentheses.
#define PERDURE_ASSIGN_OR_RETURN(declaration, ...)                              \
  auto PERDURE_INTERNAL_JOIN(perdure_result_, __LINE__) = (__VA_ARGS__);        \
  if (!PERDURE_INTERNAL_JOIN(perdure_result_, __LINE__).ok()) {                 \
    return std::move(PERDURE_INTERNAL_JOIN(perdure_result_, __LINE__)).error(); \
  }                                                                             \
  declaration = std::move(PERDURE_INTERNAL_JOIN(perdure_result_, __LINE__)).value()
