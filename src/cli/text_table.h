#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace perdure::cli {

/// Rows under headings, in columns that are as wide as their widest cell. Cells are made printable
/// here, so a cell is one line whatever it holds. A value.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings) { add(std::move(headings)); }

  /// Requires: as many cells as there are headings.
  void add(std::vector<std::string> cells);
  void print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::vector<std::size_t> widths_;
};

}  // namespace perdure::cli
