#include "base/result.h"

#include <cstdlib>
#include <string>
#include <utility>

namespace perdure::internal {

HeldError::HeldError(Error held) noexcept : error(std::move(held)) {}
HeldError::HeldError(const HeldError& other) = default;
HeldError::HeldError(HeldError&& other) noexcept = default;
HeldError& HeldError::operator=(const HeldError& other) = default;
HeldError& HeldError::operator=(HeldError&& other) noexcept = default;
HeldError::~HeldError() = default;

void value_of_failed_result(const Error& error) {
  const std::string text = std::string(to_string(error.code)) + ": " + error.message;
  PERDURE_CHECK(false, "value of a failed result: " + text);
  std::abort();
}

void error_of_successful_result() {
  PERDURE_CHECK(false, "error of a successful result");
  std::abort();
}

}  // namespace perdure::internal
