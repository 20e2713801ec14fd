#pragma once

#include <string_view>

#include <perdure/options.h>

#include "base/result.h"
#include "model/retry_policy.h"

/// Checks of what user code passes to the engine, at the call and before anything is recorded.
/// Each throws InvalidArgument that names the field. Pure.
namespace perdure::replay {

void require(const Status& status);
void require_not_negative(std::string_view field, Duration value);
/// Empty, or one to three numbers.
void require_version(std::string_view field, std::string_view version);
/// What a store can keep: valid UTF-8 without NUL.
void require_text(std::string_view field, std::string_view text);
void require_options(const ActivityOptions& options);
void require_options(const UndoOptions& options);
void require_options(const ChildOptions& options);
void require_options(const DetachedOptions& options);

/// The policy as a work row keeps it.
RetryPolicy stored_policy(const Retry& retry);

}  // namespace perdure::replay
