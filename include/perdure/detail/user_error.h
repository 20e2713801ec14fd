#pragma once

#include <exception>

#include <perdure/failure.h>

namespace perdure::detail {

/// The failure that an exception of user code is recorded as: that of a `Failed`; of any other
/// `std::exception` its C++ type and `what()`; else the type "unknown". Never throws.
Failure failure_of(const std::exception_ptr& error) noexcept;

/// True for `Canceled`.
bool is_cancellation(const std::exception_ptr& error) noexcept;

}  // namespace perdure::detail
