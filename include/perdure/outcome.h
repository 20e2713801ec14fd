#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <perdure/detail/use_it.h>
#include <perdure/errors.h>
#include <perdure/failure.h>

namespace perdure {

namespace detail {
/// Stands in for `void` where a value is stored.
struct Nothing {};
template <class T>
struct StoredAs {
  using type = T;
};
template <>
struct StoredAs<void> {
  using type = Nothing;
};
template <class T>
using Stored = typename StoredAs<T>::type;
}  // namespace detail

/// How something ended, as a value: completed with a `T`, failed, or canceled. What
/// `co_await future.outcome()` gives, where an exception is not wanted (a `co_await` inside `catch`
/// does not compile).
template <class T>
class PERDURE_DETAIL_USE_IT("an outcome tells whether the call failed: look at it") Outcome {
 public:
  enum class Kind : std::uint8_t { kCompleted, kFailed, kCanceled };

  static Outcome completed(detail::Stored<T> value) {
    Outcome outcome(Kind::kCompleted);
    outcome.value_.emplace(std::move(value));
    return outcome;
  }
  static Outcome failed(Failure failure) {
    Outcome outcome(Kind::kFailed);
    outcome.failure_ = std::move(failure);
    return outcome;
  }
  static Outcome canceled(std::string reason) {
    Outcome outcome(Kind::kCanceled);
    outcome.reason_ = std::move(reason);
    return outcome;
  }

  Kind kind() const { return kind_; }
  bool ok() const { return kind_ == Kind::kCompleted; }
  explicit operator bool() const { return ok(); }

  /// The value; throws `Failed` or `Canceled` when there is none.
  const detail::Stored<T>& value() const {
    if (kind_ == Kind::kFailed) throw Failed(failure_);
    if (kind_ == Kind::kCanceled) throw Canceled(reason_);
    return *value_;
  }
  const Failure& failure() const { return failure_; }    ///< empty unless failed
  const std::string& reason() const { return reason_; }  ///< empty unless canceled

 private:
  explicit Outcome(Kind kind) : kind_(kind) {}

  Kind kind_;
  std::optional<detail::Stored<T>> value_;
  Failure failure_;
  std::string reason_;
};

}  // namespace perdure
