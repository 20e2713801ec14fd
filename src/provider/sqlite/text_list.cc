#include "provider/sqlite/text_list.h"

namespace perdure::sqlite {

namespace {

constexpr char kSeparator = '\x1f';

}  // namespace

std::string join_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) text += kSeparator;
    text += item;
  }
  return text;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t to = std::min(text.find(kSeparator, from), text.size());
    items.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return items;
}

}  // namespace perdure::sqlite
