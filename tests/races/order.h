#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/failpoint.h"

namespace perdure::races {

/// While it lives, the order is kept in which failpoints are passed.
class Recording {
 public:
  Recording() { failpoint::set_recording(true); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() { failpoint::set_recording(false); }
};

/// Both points were passed in the last recording, `first` before `second`.
inline void expect_order(std::string_view first, std::string_view second) {
  const std::vector<std::string_view> passed = failpoint::passed();
  const auto a = std::ranges::find(passed, first);
  const auto b = std::ranges::find(passed, second);
  EXPECT_TRUE(a != passed.end()) << first << " was not passed";
  EXPECT_TRUE(b != passed.end()) << second << " was not passed";
  EXPECT_LT(a - passed.begin(), b - passed.begin()) << second << " was passed first";
}

}  // namespace perdure::races
