#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <perdure/detail/given_value.h>
#include <perdure/detail/handler_table.h>
#include <perdure/detail/safe_argument.h>
#include <perdure/json.h>
#include <perdure/orchestration_context.h>
#include <perdure/task.h>

/// How handlers of messages are called, and their types taken away.
namespace perdure::detail {

/// Payloads that leave handlers are bounded where they are stored; here only the form is checked.
inline constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

/// The plain function behind a main or a handler: a function, or a closure that captures nothing.
template <class F>
auto as_function(F main) {
  if constexpr (std::is_pointer_v<F>) {
    return main;
  } else {
    static_assert(std::is_empty_v<F>,
                  "perdure: an orchestration must not capture: its frames outlive the closure");
    if constexpr (std::is_empty_v<F>) return +main;
  }
}

template <class F>
struct MessageShape {
  static_assert(kNever<F>,
                "perdure: a handler is called as R(State&, A) or, with durable steps, as "
                "Task<R>(OrchestrationContext&, State&, A); a query as R(const State&, A)");
  using Output = void;
  using Input = void;
  using State = void;
  static constexpr bool kDurable = false;
};
template <class R, class S>
struct MessageShape<R(S&)> {
  using Output = R;
  using Input = void;
  using State = S;
  static constexpr bool kDurable = false;
};
template <class R, class S, class A>
struct MessageShape<R(S&, A)> {
  using Output = R;
  using Input = std::remove_cvref_t<A>;
  using State = S;
  static constexpr bool kDurable = false;
};
template <class R, class S>
struct MessageShape<Task<R>(OrchestrationContext&, S&)> {
  using Output = R;
  using Input = void;
  using State = S;
  static constexpr bool kDurable = true;
};
template <class R, class S, class A>
struct MessageShape<Task<R>(OrchestrationContext&, S&, A)> {
  static_assert(!std::is_reference_v<A>,
                "perdure: a handler with durable steps takes its input by value: a reference "
                "dangles at the first await");
  using Output = R;
  using Input = std::remove_cvref_t<A>;
  using State = S;
  static constexpr bool kDurable = true;
};
template <class F>
struct MessageShape<F*> : MessageShape<F> {};

/// The state that a handler sees: that of main, or, when main takes none, one of its own type that
/// belongs to the run.
template <class MainState, class S>
S& state_of(MainFrame& main) {
  using Plain = std::remove_const_t<S>;
  if constexpr (std::is_void_v<MainState>) {
    return main.context().template local<Plain>();
  } else {
    static_assert(std::is_same_v<MainState, Plain>,
                  "perdure: handlers and main take the same state object");
    return *static_cast<Plain*>(main.state());
  }
}

/// The payload of a message is no input of its handler. Told apart from what handlers throw.
class NoInput : public Failed {
 public:
  using Failed::Failed;
};

/// Throws NoInput.
template <class Input>
Stored<Input> message_input(const std::string& payload, const std::string& what) {
  try {
    return decode<Input>(payload, what);
  } catch (const Failed& error) {
    throw NoInput(error.failure());
  }
}

/// Of a handler that takes none: whoever gives one takes it for another handler.
inline void check_no_input(const std::string& payload, const std::string& what) {
  if (payload.empty() || payload == "null") return;
  throw NoInput(kBadInputFailure, what + ": there is none, but a value was given", false);
}

/// Calls `function(given.., input)`, without the input when it takes none.
template <class Input, class Function, class... Given>
decltype(auto) call_with(Function function,
                         const std::string& payload,
                         const std::string& what,
                         Given&... given) {
  if constexpr (std::is_void_v<Input>) {
    return function(given...);
  } else {
    Input value = message_input<Input>(payload, what);
    return function(given..., std::move(value));
  }
}

/// A handler of signals or updates as a coroutine, with or without durable steps. `name` is that of
/// a contract: it outlives the run.
template <class MainState, class Shape, class Function>
Task<std::string> run_message(MainFrame* main,
                              Function function,
                              std::string payload,
                              std::string_view kind,
                              std::string_view name) {
  using R = typename Shape::Output;
  using A = typename Shape::Input;
  auto& state = state_of<MainState, typename Shape::State>(*main);
  const std::string what = input_of_message(kind, name);
  if constexpr (Shape::kDurable) {
    // Named, never a temporary of the await: see safe_argument.h.
    Task<R> task = call_with<A>(function, payload, what, main->context(), state);
    if constexpr (std::is_void_v<R>) {
      co_await std::move(task);
      co_return "null";
    } else {
      R result = co_await std::move(task);
      co_return encode<R>(result, result_of_message(kind, name), kNoLimit);
    }
  } else if constexpr (std::is_void_v<R>) {
    call_with<A>(function, payload, what, state);
    co_return "null";
  } else {
    R result = call_with<A>(function, payload, what, state);
    co_return encode<R>(result, result_of_message(kind, name), kNoLimit);
  }
}

}  // namespace perdure::detail
