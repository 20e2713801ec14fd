#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

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
    shielded = is_shield || parent->shielded;
    if (is_shield || !parent->canceled) return;
    canceled = true;
    reason = parent->reason;
  }

  bool is_within(const ScopeState& other) const {
    for (const ScopeState* scope = this; scope != nullptr; scope = scope->parent.get()) {
      if (scope == &other) return true;
    }
    return false;
  }

  std::shared_ptr<ScopeState> parent;
  std::int64_t id;        ///< counts the scopes of the run, the same in every replay
  bool shield;            ///< a cancel from above stops here
  bool shielded = false;  ///< this one or one above is a shield: its work survives a cancel
  bool canceled = false;  ///< for good
  std::string reason;
  ListHook waiters;   ///< suspended awaits of this scope, oldest first
  ListHook children;  ///< scopes right below
};

using ScopeRef = std::shared_ptr<ScopeState>;

}  // namespace perdure::detail
