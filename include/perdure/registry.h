#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <perdure/activity_context.h>
#include <perdure/contracts.h>
#include <perdure/detail/handler_table.h>
#include <perdure/handler_options.h>
#include <perdure/json.h>
#include <perdure/messages.h>
#include <perdure/orchestration_context.h>
#include <perdure/orchestration_options.h>
#include <perdure/task.h>

namespace perdure {

namespace detail {

template <class R, class Make>
std::string encoded_result(std::string_view name, Make&& make, std::size_t max_bytes) {
  if constexpr (std::is_void_v<R>) {
    make();
    return "null";
  } else {
    return encode<R>(make(), "the result of '" + std::string(name) + "'", max_bytes);
  }
}

/// True when a handler called with these arguments gives what the contract names.
template <class R, class F, class... Args>
constexpr bool gives() {
  if constexpr (!std::is_invocable_v<F&, Args...>) {
    return false;
  } else if constexpr (std::is_void_v<R>) {
    return std::is_void_v<std::invoke_result_t<F&, Args...>>;
  } else {
    return kStandsFor<std::invoke_result_t<F&, Args...>, R>;
  }
}

template <class R, class A, class F>
R invoke_activity(F& handler,
                  ActivityContext& ctx,
                  const std::string& input,
                  std::string_view name) {
  if constexpr (std::is_void_v<A>) {
    if constexpr (gives<R, F, ActivityContext&>()) {
      return handler(ctx);
    } else {
      static_assert(gives<R, F>(),
                    "perdure: this activity is called as R(ActivityContext&) or R(): its handler "
                    "takes or gives another type");
      return handler();
    }
  } else {
    A value = decode<A>(input, "the input of '" + std::string(name) + "'");
    if constexpr (gives<R, F, ActivityContext&, A>()) {
      return handler(ctx, std::move(value));
    } else {
      static_assert(gives<R, F, A>(),
                    "perdure: this activity is called as R(ActivityContext&, A) or R(A): its "
                    "handler takes or gives another type");
      return handler(std::move(value));
    }
  }
}

#define PERDURE_DETAIL_BY_VALUE \
  "perdure: an orchestration takes its input by value: a reference dangles at the first await"

/// How main is called: with the input and, when it takes a third parameter, with a state of the
/// run.
template <class F>
struct MainShape {
  static_assert(kNever<F>,
                "perdure: main is called as Task<R>(OrchestrationContext&, A), with a State& as "
                "third parameter when it wants one");
  using Output = void;
  using Input = void;
  using State = void;
};
template <class R>
struct MainShape<Task<R>(OrchestrationContext&)> {
  using Output = R;
  using Input = void;
  using State = void;
};
template <class R, class A>
struct MainShape<Task<R>(OrchestrationContext&, A)> {
  static_assert(!std::is_reference_v<A>, PERDURE_DETAIL_BY_VALUE);
  using Output = R;
  using Input = std::remove_cvref_t<A>;
  using State = void;
};
/// Without an input; what main takes by reference is its state.
template <class R, class S>
requires(!std::is_const_v<S>) struct MainShape<Task<R>(OrchestrationContext&, S&)> {
  using Output = R;
  using Input = void;
  using State = S;
};
template <class R, class A, class S>
struct MainShape<Task<R>(OrchestrationContext&, A, S&)> {
  static_assert(!std::is_reference_v<A>, PERDURE_DETAIL_BY_VALUE);
  using Output = R;
  using Input = std::remove_cvref_t<A>;
  using State = S;
};
template <class F>
struct MainShape<F*> : MainShape<F> {};

template <class Shape, class Function>
class TypedMain final : public MainFrame {
 public:
  using R = typename Shape::Output;
  using A = typename Shape::Input;
  using S = typename Shape::State;

  TypedMain(TurnApi& api, Function main) : api_(api), ctx_(api), main_(main) {}

  Task<std::string> start(std::string input) override { return run(this, std::move(input)); }
  OrchestrationContext& context() override { return ctx_; }
  void* state() override {
    if constexpr (std::is_void_v<S>) {
      return nullptr;
    } else {
      return &state_;
    }
  }

 private:
  static Task<std::string> run(TypedMain* self, std::string input) {
    // Named, never a temporary of the await: see safe_argument.h.
    Task<R> task = self->make(input);
    if constexpr (std::is_void_v<R>) {
      co_await std::move(task);
      co_return "null";
    } else {
      R result = co_await std::move(task);
      co_return encode<R>(result,
                          "the result of '" + self->api_.orchestration() + "'",
                          self->api_.max_payload_bytes());
    }
  }

  Task<R> make(const std::string& input) {
    if constexpr (std::is_void_v<A> && std::is_void_v<S>) {
      return main_(ctx_);
    } else if constexpr (std::is_void_v<A>) {
      return main_(ctx_, state_);
    } else {
      A value = decode<A>(input, "the input of '" + api_.orchestration() + "'");
      if constexpr (std::is_void_v<S>) {
        return main_(ctx_, std::move(value));
      } else {
        return main_(ctx_, std::move(value), state_);
      }
    }
  }

  TurnApi& api_;
  OrchestrationContext ctx_;
  Function main_;
  Stored<S> state_{};
};

}  // namespace detail

/// The handlers of a program. Add everything, then hand it to a runtime. Not for several threads
/// while it is filled. Copies share their handlers.
class Registry {
 public:
  /// `handler` is called as R(ActivityContext&, A) or R(A), from many threads at once; with
  /// `{.isolation = Isolation::kProcess}` in a process of its own (isolation.h).
  /// InvalidArgument when the name is taken.
  template <class R, class... A, class F>
  Registry& add(const Activity<R(A...)>& activity, F handler, HandlerOptions options = {}) {
    static_assert(std::is_same_v<typename Activity<R(A...)>::Output, R>);
    using In = typename Activity<R(A...)>::Input;
    table_->add_activity(
        activity.name(),
        [handler = std::move(handler), name = std::string(activity.name())](
            detail::AttemptApi& api, const std::string& input) mutable {
          ActivityContext ctx(api);
          return detail::encoded_result<R>(
              name,
              [&] { return detail::invoke_activity<R, In>(handler, ctx, input, name); },
              api.info().max_payload_bytes);
        },
        options);
    return *this;
  }

  /// `main` is a function or a closure without captures:
  /// `Task<R>(OrchestrationContext&, A)`, or with `State&` as the last parameter, made for each
  /// run. Several versions of a name may stand side by side; a run stays on the one it began with.
  /// A version is one to three numbers; missing ones are zero, so "1" and "1.0" are the same one.
  /// Without one it is older than all others, and can be asked for as "0".
  /// InvalidArgument when the version is taken, or an option is out of its range.
  /// The answer takes the declarations of what its runs can be told and asked (messages.h).
  template <class R, class... A, class F>
  auto add(const Orchestration<R(A...)>& orchestration,
           F main,
           std::string_view version = {},
           const OrchestrationOptions& options = {}) {
    auto function = detail::as_function(main);
    using Shape = detail::MainShape<decltype(function)>;
    static_assert(std::is_same_v<typename Shape::Output, R> &&
                      std::is_same_v<typename Shape::Input, typename Orchestration<R(A...)>::Input>,
                  "perdure: main takes or gives another type than its contract");
    table_->add_orchestration(
        orchestration.name(),
        version,
        [function](detail::TurnApi& api) {
          return std::make_unique<detail::TypedMain<Shape, decltype(function)>>(api, function);
        },
        options);
    return Messages<typename Shape::State>(
        *this, table_, std::string(orchestration.name()), std::string(version));
  }

  const std::shared_ptr<detail::HandlerTable>& table() const { return table_; }

 private:
  std::shared_ptr<detail::HandlerTable> table_ = std::make_shared<detail::HandlerTable>();
};

template <class MainState>
template <class... Args>
decltype(auto) Messages<MainState>::add(Args&&... args) {
  return registry_->add(std::forward<Args>(args)...);
}

}  // namespace perdure
