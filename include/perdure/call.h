#pragma once

#include <type_traits>
#include <utility>

#include <perdure/contracts.h>
#include <perdure/detail/turn_api.h>
#include <perdure/detail/use_it.h>
#include <perdure/future.h>
#include <perdure/options.h>

namespace perdure {

namespace detail {
template <class... Types>
struct TypeList {};
}  // namespace detail

/// The future of an activity that was just called.
template <class R>
class PERDURE_DETAIL_USE_IT("a call that is dropped is canceled: await it, keep it, or detach() it")
    Call : public Future<R> {
 public:
  using Future<R>::Future;

  /// What makes the call undone: an activity that takes the result. When the run fails or is
  /// canceled after the call completed, undos run in reverse order of the calls, shielded, under
  /// their own retry policy; only `terminate` skips them. Implies `on_cancel = wait`: whether the
  /// call completed must be known. Use it in the expression that makes the call (InvalidArgument
  /// later on).
  template <class U, class... A>
  Future<R> undo_with(const Activity<U(A...)>& undo, const UndoOptions& options = {}) && {
    static_assert(std::is_same_v<detail::TypeList<A...>, detail::TypeList<R>> ||
                      (std::is_void_v<R> && sizeof...(A) == 0),
                  "perdure: an undo takes what the call gives");
    this->op()->api->owe_undo(*this->op(), undo.name(), options);
    return std::move(*this);
  }
};

}  // namespace perdure
