#pragma once

#include <exception>
#include <functional>
#include <utility>

#include <perdure/detail/op.h>

namespace perdure::detail {

/// A condition on the state of the run that somebody waits for.
class ConditionOp final : public Op {
 public:
  ConditionOp(TurnApi& owner, std::int64_t number, std::function<bool()> condition, ScopeRef home)
      : Op(owner, OpKind::kCondition, -number, "condition", std::move(home)),
        holds(std::move(condition)) {}

  std::function<bool()> holds;
  std::exception_ptr error;  ///< what it threw
};

}  // namespace perdure::detail
