#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <perdure/detail/list.h>

namespace perdure::detail {

/// A part of a run that can be canceled by itself: main, a spawned task, a user's scope, a shield.
/// Scopes form a tree; a cancel reaches all scopes below except through a shield.
/// Owned by the tasks and operations that live in it. One thread: that of the turn.
struct ScopeState : ListHook {
  ScopeState(std::shared_ptr<ScopeState> above, std::int64_t number, bool is_shield)
      : parent(std::move(above)), id(number), shield(is_shield) {
    if (!parent) return;
    join(parent->children);
    supervised = parent->supervised;
    shielded = is_shield || parent->shielded;
    if (is_shield || !parent->canceled) return;
    canceled = true;
    reason = parent->reason;
  }

  std::shared_ptr<ScopeState> parent;
  std::int64_t id;        ///< counts the scopes of the run, the same in every replay
  bool shield;            ///< a cancel from above stops here
  bool shielded = false;  ///< this one or one above is a shield: its work survives a cancel
  bool canceled = false;  ///< for good
  /// Of a message handler: it goes on when main has ended, and its failure is its own.
  bool supervised = false;
  std::string reason;
  ListHook waiters;   ///< suspended awaits of this scope, oldest first
  ListHook children;  ///< scopes right below
  ListHook ops;       ///< unresolved operations of this scope, oldest first
};

using ScopeRef = std::shared_ptr<ScopeState>;

/// `top` and the scopes below it for which `enters` holds, outer ones first. Without recursion: the
/// tree may be deep.
template <class Enters>
std::vector<ScopeState*> collect_scopes(ScopeState& top, Enters enters) {
  std::vector<ScopeState*> found{&top};
  for (std::size_t i = 0; i < found.size(); ++i) {
    ListHook& children = found[i]->children;
    for (ListHook* hook = children.next(); hook != &children; hook = hook->next()) {
      auto* below = static_cast<ScopeState*>(hook);
      if (enters(*below)) found.push_back(below);
    }
  }
  return found;
}

inline std::vector<ScopeState*> scopes_within(ScopeState& top) {
  return collect_scopes(top, [](const ScopeState&) { return true; });
}

/// What a cancel of `top` reaches: not what is canceled already, nothing under a shield.
inline std::vector<ScopeState*> scopes_to_cancel(ScopeState& top) {
  if (top.canceled) return {};
  return collect_scopes(top,
                        [](const ScopeState& scope) { return !scope.shield && !scope.canceled; });
}

}  // namespace perdure::detail
