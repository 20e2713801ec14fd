#include "cli/text_table.h"

#include <algorithm>
#include <ostream>

#include "cli/printable.h"

namespace perdure::cli {

namespace {

constexpr std::size_t kGap = 2;

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  widths_.resize(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i] = printable(cells[i]);
    widths_[i] = std::max(widths_[i], columns_of(cells[i]));
  }
  rows_.push_back(std::move(cells));
}

void TextTable::print(std::ostream& out) const {
  for (const auto& row : rows_) {
    std::string line;
    std::size_t missing = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      // Only before something: lines have no blanks at their end.
      if (!row[i].empty()) line.append(missing, ' ').append(row[i]), missing = 0;
      missing += widths_[i] - columns_of(row[i]) + kGap;
    }
    out << line << '\n';
  }
}

}  // namespace perdure::cli
