#include <algorithm>
#include <utility>

#include <perdure/detail/condition_op.h>

#include "replay/execution.h"
#include "replay/execution_reading.h"

namespace perdure::replay {

using detail::ConditionOp;
using detail::OpRef;
using detail::OpState;

OpRef Execution::wait_until(std::function<bool()> condition) {
  check_read_only();
  if (stopped()) return never();
  check_scope();
  record_pending_call();
  MessageParts& parts = rare_.get().messages.get();
  OpRef op(
      new ConditionOp(*this, ++parts.conditions_made, std::move(condition), current_scope_ref()));
  op->join(op->scope->ops);
  if (!settle_condition(*op)) parts.conditions.push_back(op);
  return op;
}

/// Looks at a condition; true when it holds or threw, and its wait is over.
bool Execution::settle_condition(detail::Op& op) {
  auto& condition = static_cast<ConditionOp&>(op);
  OpState state = OpState::kCompleted;
  {
    const Reading reading(*this, ReadOnly::kCondition);
    try {
      if (!condition.holds()) return false;
    } catch (...) {
      condition.error = std::current_exception();
      state = OpState::kFailed;
    }
  }
  resolve(OpRef(&op), state);
  return true;
}

/// Ends the first wait whose condition holds; true when there was one. The others are looked at
/// again when what it woke has run, so that whoever wakes finds its condition true.
bool Execution::check_conditions() {
  RareParts* rare = rare_.find();
  MessageParts* parts = rare != nullptr ? rare->messages.find() : nullptr;
  if (parts == nullptr || parts->conditions.empty() || stopped()) return false;
  std::erase_if(parts->conditions, [](const OpRef& op) { return op->resolved(); });
  for (std::size_t i = 0; i < parts->conditions.size(); ++i) {
    const OpRef op = parts->conditions[i];
    if (main_waits_ && !op->scope->supervised) continue;
    if (settle_condition(*op)) return true;
  }
  return false;
}

/// Those of tasks whose frames are gone, which they may refer to.
void Execution::forget_conditions(bool supervised) {
  RareParts* const rare = rare_.find();
  MessageParts* const parts = rare != nullptr ? rare->messages.find() : nullptr;
  if (parts == nullptr) return;
  for (const OpRef& op : std::exchange(parts->conditions, {})) {
    if (op->scope->supervised != supervised) {
      parts->conditions.push_back(op);
    } else {
      resolve(op, OpState::kCanceled);
    }
  }
}

}  // namespace perdure::replay
