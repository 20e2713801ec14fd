#pragma once

#include <string_view>

namespace perdure {

/// Whether `text` is well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF.
/// The empty text is. Ids must be, because every store and every JSON answer has to carry them.
bool is_valid_utf8(std::string_view text);

}  // namespace perdure
