#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <perdure/contracts.h>
#include <perdure/detail/handler_table.h>
#include <perdure/detail/message_shape.h>
#include <perdure/message_options.h>

namespace perdure {

class Registry;

/// What a run can be told and asked, declared when its orchestration is registered:
///
///     registry.add(checkout, run_checkout)
///         .query(stage_of, [](const Progress& p) { return p.stage; })
///         .signal(gift_wrap, [](Progress& p, std::string paper) { p.paper = paper; })
///         .update(add_note, [](Progress& p, std::string note) { .. return count; });
///
/// Handlers work on a state object that belongs to the run: the one that main takes, or, when main
/// takes none, one of the handler's own type. They capture nothing.
///
/// **Order.** Signals and updates of a turn come before all else that it brings, also before main's
/// first step, in the order in which they came; main goes on when all of them have been handled, as
/// far as they get without waiting. A handler is `R(State&, A)` or, when it needs durable steps, a
/// coroutine `Task<R>(OrchestrationContext&, State&, A)`, which runs beside main and the others.
/// **Failure** of a handler is its own: of an update it goes to its caller, of a signal into the
/// log; main and the other handlers go on.
/// **The end.** When main has ended, handlers that run may finish (`handler_drain_timeout`);
/// meanwhile the run is `completing`, `failing` or `canceling`, new updates are refused and new
/// signals are kept for the next execution, if there is one. A cancel reaches main, and those
/// handlers that asked for it.
/// InvalidArgument when a name is declared twice for the same kind.
template <class MainState>
class Messages {
 public:
  Messages(Registry& registry,
           std::shared_ptr<detail::HandlerTable> table,
           std::string orchestration,
           std::string version)
      : registry_(&registry),
        table_(std::move(table)),
        orchestration_(std::move(orchestration)),
        version_(std::move(version)) {}

  /// `handler` is `R(const State&)` or `R(const State&, A)`: it reads, and makes no commands.
  template <class R, class... A, class F>
  Messages& query(const Query<R(A...)>& query, F handler) {
    auto function = detail::as_function(handler);
    using Shape = detail::MessageShape<decltype(function)>;
    check_shape<R, typename Query<R(A...)>::Input, Shape>();
    static_assert(std::is_const_v<typename Shape::State> && !Shape::kDurable,
                  "perdure: a query reads: it is called as R(const State&) or R(const State&, A)");
    static_assert(!std::is_void_v<R>, "perdure: a query gives something");
    const std::string_view name = query.name();
    table_->add_query(orchestration_,
                      version_,
                      name,
                      [function, name](detail::MainFrame& main, const std::string& payload) {
                        const auto& state =
                            detail::state_of<MainState, typename Shape::State>(main);
                        const std::string what = detail::input_of_message("query", name);
                        if constexpr (sizeof...(A) == 0) detail::check_no_input(payload, what);
                        const R result = detail::call_with<typename Shape::Input>(
                            function, payload, what, state);
                        return detail::encode<R>(
                            result, detail::result_of_message("query", name), detail::kNoLimit);
                      });
    return *this;
  }

  /// `handler` gives nothing: `void(State&, A)` or `Task<void>(OrchestrationContext&, State&, A)`.
  template <class T, class F>
  Messages& signal(const Signal<T>& signal, F handler, const MessageOptions& options = {}) {
    table_->add_signal(orchestration_,
                       version_,
                       signal.name(),
                       made<void, T>("signal", signal.name(), handler, options));
    return *this;
  }

  /// `handler` is `R(State&, A)` or `Task<R>(OrchestrationContext&, State&, A)`.
  template <class R, class... A, class F>
  Messages& update(const Update<R(A...)>& update, F handler, const MessageOptions& options = {}) {
    return add_update(update, handler, nullptr, options);
  }
  /// `validator` is `void(const State&, const A&)`: it reads, makes no commands, and refuses by
  /// throwing. An update that it refuses leaves no trace in history. Not asked again in a replay.
  template <class R, class... A, class F, class V>
  requires(std::is_empty_v<V> || std::is_pointer_v<V>) Messages& update(
      const Update<R(A...)>& update, F handler, V validator, const MessageOptions& options = {}) {
    return add_update(update, handler, detail::as_function(validator), options);
  }

  /// The registry again, for what else is registered.
  template <class... Args>
  decltype(auto) add(Args&&... args);
  operator Registry&() const { return *registry_; }  // NOLINT(google-explicit-constructor)

 private:
  template <class R, class A, class Shape>
  static constexpr void check_shape() {
    static_assert(
        std::is_same_v<typename Shape::Output, R> && std::is_same_v<typename Shape::Input, A>,
        "perdure: the handler takes or gives another type than its contract");
  }

  template <class R, class A, class F>
  static detail::MessageHandler made(std::string_view kind,
                                     std::string_view name,
                                     F handler,
                                     const MessageOptions& options) {
    auto function = detail::as_function(handler);
    using Function = decltype(function);
    using Shape = detail::MessageShape<Function>;
    check_shape<R, A, Shape>();
    detail::MessageHandler made;
    made.start = [function, kind, name](detail::MainFrame& main, std::string payload) {
      return detail::run_message<MainState, Shape, Function>(
          &main, function, std::move(payload), kind, name);
    };
    made.cancel_with_run = options.cancel_with_run;
    return made;
  }

  template <class R, class... A, class F, class V>
  Messages& add_update(const Update<R(A...)>& update,
                       F handler,
                       V validator,
                       const MessageOptions& options) {
    using In = typename Update<R(A...)>::Input;
    const std::string_view name = update.name();
    detail::MessageHandler declared = made<R, In>("update", name, handler, options);
    declared.check = [validator, name](detail::MainFrame& main, const std::string& payload) {
      const std::string what = detail::input_of_message("update", name);
      if constexpr (std::is_void_v<In>) detail::check_no_input(payload, what);
      if constexpr (std::is_null_pointer_v<V>) {
        static_cast<void>(validator);
        if constexpr (!std::is_void_v<In>) detail::message_input<In>(payload, what);
      } else {
        using Shape = detail::MessageShape<V>;
        check_shape<void, In, Shape>();
        static_assert(std::is_const_v<typename Shape::State> && !Shape::kDurable,
                      "perdure: a validator reads: it is called as void(const State&, const A&)");
        const auto& state = detail::state_of<MainState, typename Shape::State>(main);
        detail::call_with<In>(validator, payload, what, state);
      }
    };
    table_->add_update(orchestration_, version_, name, std::move(declared));
    return *this;
  }

  Registry* registry_;
  std::shared_ptr<detail::HandlerTable> table_;
  std::string orchestration_;
  std::string version_;
};

}  // namespace perdure
