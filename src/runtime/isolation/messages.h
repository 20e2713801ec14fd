#pragma once

#include <string>
#include <string_view>

#include <perdure/detail/attempt_api.h>
#include <perdure/failure.h>

/// Bodies of frames that are more than one text. What reads them throws BadFrame for a body that
/// ends too early or too late.
namespace perdure::runtime {

struct BeginMessage {
  detail::AttemptInfo info;
  std::string input;
};

std::string begin_body(const detail::AttemptInfo& info, std::string_view input);
BeginMessage begin_of(std::string_view body);

std::string failure_body(const Failure& failure);
Failure failure_in(std::string_view body);

}  // namespace perdure::runtime
