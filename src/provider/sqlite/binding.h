#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/strong_id.h"
#include "base/time.h"
#include "model/codes.h"

struct sqlite3_stmt;

namespace perdure::sqlite {

/// How long a bound text stays where it is.
enum class TextLifetime : std::uint8_t {
  kUntilReset,  ///< the caller's memory outlives the execution: not copied
  kCopied,
};

namespace internal {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsStrongId : std::false_type {};
template <class Tag>
struct IsStrongId<StrongId<Tag, std::int64_t>> : std::true_type {};

template <class T>
struct IsDuration : std::false_type {};
template <class Rep, class Period>
struct IsDuration<std::chrono::duration<Rep, Period>>
    : std::is_convertible<std::chrono::duration<Rep, Period>, Duration> {};

template <class T>
inline constexpr bool kNeverBound = false;

}  // namespace internal

/// Binds values to the parameters of one statement, from left to right. Times and durations are
/// stored in microseconds, stored codes as their number, an empty optional as NULL. Throws
/// SqliteError.
class Binder {
 public:
  Binder(sqlite3_stmt* statement, TextLifetime lifetime)
      : statement_(statement), lifetime_(lifetime) {}

  template <class T>
  void bind(const T& value) {
    if constexpr (std::same_as<T, std::nullptr_t> || std::same_as<T, std::nullopt_t>) {
      null();
    } else if constexpr (internal::IsOptional<T>::value) {
      if (value.has_value()) {
        bind(*value);
      } else {
        null();
      }
    } else if constexpr (StoredCode<T>) {
      integer(code(value));
    } else if constexpr (std::integral<T>) {
      if constexpr (std::is_unsigned_v<T> && sizeof(T) == sizeof(std::int64_t)) {
        PERDURE_CHECK(value <= T{INT64_MAX}, "a number that the store cannot keep");
      }
      integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::floating_point<T>) {
      real(static_cast<double>(value));
    } else if constexpr (std::convertible_to<const T&, std::string_view>) {
      text(value);
    } else if constexpr (std::same_as<T, TimePoint>) {
      integer(to_micros(value));
    } else if constexpr (internal::IsDuration<T>::value) {
      integer(to_micros(Duration{value}));
    } else if constexpr (internal::IsStrongId<T>::value) {
      integer(value.value);
    } else {
      static_assert(internal::kNeverBound<T>, "this type is not stored in a column");
    }
  }

  /// Aborts unless every parameter of the statement has got its value.
  void check_complete() const;

 private:
  void null();
  void integer(std::int64_t value);
  void real(double value);
  void text(std::string_view value);
  void check(int result) const;

  sqlite3_stmt* statement_;
  TextLifetime lifetime_;
  int bound_ = 0;
};

template <class... Args>
void bind_all(sqlite3_stmt* statement, TextLifetime lifetime, const Args&... args) {
  Binder binder(statement, lifetime);
  (binder.bind(args), ...);
  binder.check_complete();
}

}  // namespace perdure::sqlite
