#pragma once

#include <string_view>

/// Contracts: a name with the types that go in and come out, shared by those who call and those who
/// implement, and checked by the compiler on both sides.
///
///     inline constexpr pd::Activity<Receipt(Order)> charge{"charge"};
namespace perdure {

namespace detail {
template <class Signature>
inline constexpr bool kNoContract = false;

/// Name and types of something that can be called.
template <class Signature>
class Contract {
  static_assert(kNoContract<Signature>,
                "perdure: a contract is R() or R(A): what takes several values takes a struct");
};
template <class R>
class Contract<R()> {
 public:
  using Output = R;
  using Input = void;
  constexpr explicit Contract(std::string_view name) : name_(name) {}
  constexpr std::string_view name() const { return name_; }

 private:
  std::string_view name_;
};
template <class R, class A>
class Contract<R(A)> {
 public:
  using Output = R;
  using Input = A;
  constexpr explicit Contract(std::string_view name) : name_(name) {}
  constexpr std::string_view name() const { return name_; }

 private:
  std::string_view name_;
};
}  // namespace detail

/// A function that a worker runs for an orchestration. `name` is a literal: it must outlive the
/// contract.
template <class Signature>
class Activity : public detail::Contract<Signature> {
 public:
  using detail::Contract<Signature>::Contract;
};

/// A durable coroutine.
template <class Signature>
class Orchestration : public detail::Contract<Signature> {
 public:
  using detail::Contract<Signature>::Contract;
};

/// Something that is told to a run from outside. Kept in order for each name until a wait takes it.
/// `Event<void>` has no payload: that it came is all it says.
template <class T>
class Event {
 public:
  using Payload = T;
  constexpr explicit Event(std::string_view name) : name_(name) {}
  constexpr std::string_view name() const { return name_; }

 private:
  std::string_view name_;
};

/// A message to a run that its handler takes; nobody waits for it. Kept in order until it is taken.
/// `Signal<void>` has no payload.
template <class T>
class Signal {
 public:
  using Payload = T;
  constexpr explicit Signal(std::string_view name) : name_(name) {}
  constexpr std::string_view name() const { return name_; }

 private:
  std::string_view name_;
};

/// A change that a caller asks of a run, with a result.
template <class Signature>
class Update : public detail::Contract<Signature> {
 public:
  using detail::Contract<Signature>::Contract;
};

/// A question to a run: reads its state, changes nothing.
template <class Signature>
class Query : public detail::Contract<Signature> {
 public:
  using detail::Contract<Signature>::Contract;
};

}  // namespace perdure
