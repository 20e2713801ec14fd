#pragma once

#include <string>
#include <vector>

namespace perdure::sqlite {

/// A list of texts in one column. No text may contain the unit separator (0x1f).
std::string join_list(const std::vector<std::string>& items);
std::vector<std::string> split_list(const std::string& text);

}  // namespace perdure::sqlite
