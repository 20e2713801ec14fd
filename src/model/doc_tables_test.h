#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/codes.h"
#include "model/enumerators_test.h"

/// Tables of the documents, so that a page and the code can be compared. A table stands between
/// `<!-- codes: EventKind -->` (or another word before the name) and `<!-- end -->`.
/// PERDURE_SOURCE_DIR is the root of the repository.
namespace perdure::testing_support {

inline constexpr std::string_view kOpen = "<!-- ";
inline constexpr std::string_view kClose = " -->";

using DocRow = std::vector<std::string>;
using DocTables = std::map<std::string, std::vector<DocRow>>;

inline std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

/// "`running`" -> "running".
inline std::string without_ticks(const std::string& cell) {
  const bool ticked = cell.size() > 2 && cell.front() == '`' && cell.back() == '`';
  return ticked ? cell.substr(1, cell.size() - 2) : cell;
}

inline DocRow cells_of(const std::string& line) {
  DocRow cells;
  std::istringstream rest(line.substr(1));
  for (std::string cell; std::getline(rest, cell, '|');) cells.push_back(trimmed(cell));
  return cells;
}

inline std::vector<std::string> lines_of_page(const std::string& page) {
  std::ifstream file(std::string(PERDURE_SOURCE_DIR) + "/" + page);
  EXPECT_TRUE(file.is_open()) << page;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// The marked tables by the text of their marks ("codes: EventKind"), without head and rule. Every
/// row has as many cells as the head, or the test fails.
inline DocTables doc_tables(const std::string& page) {
  DocTables tables;
  std::vector<DocRow>* table = nullptr;
  for (const std::string& line : lines_of_page(page)) {
    if (line.starts_with(kOpen) && line.ends_with(kClose)) {
      const std::string mark =
          line.substr(kOpen.size(), line.size() - kOpen.size() - kClose.size());
      EXPECT_EQ(table != nullptr, mark == "end") << page << ": " << line;
      const auto [opened, fresh] = tables.try_emplace(mark == "end" ? "" : mark);
      EXPECT_TRUE(fresh || mark == "end") << page << ": " << mark << " twice";
      table = mark == "end" ? nullptr : &opened->second;
    } else if (table != nullptr && line.starts_with("|")) {
      table->push_back(cells_of(line));
      EXPECT_EQ(table->back().size(), table->front().size()) << page << ": " << line;
    }
  }
  EXPECT_EQ(table, nullptr) << page << ": the last mark is not closed";
  tables.erase("");
  for (auto& [mark, rows] : tables) {
    EXPECT_GT(rows.size(), 2U) << page << ": " << mark << " is empty";
    const std::size_t head = std::min<std::size_t>(2, rows.size());
    rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(head));
  }
  return tables;
}

using CodeAndName = std::pair<std::string, std::string>;

/// Expects that the page lists the codes and names of `E`, all of them, no others, in their order.
template <StoredCode E>
void expect_listed(const DocTables& tables) {
  const std::string mark = "codes: " + type_name<E>();
  const auto found = tables.find(mark);
  ASSERT_NE(found, tables.end()) << mark << " is missing";
  std::vector<CodeAndName> listed;
  for (const DocRow& row : found->second) {
    ASSERT_GE(row.size(), 3U) << mark;
    listed.emplace_back(row[0], row[1]);
  }
  std::vector<CodeAndName> expected;
  for (const CodeRow<E>& row : CodeTable<E>::rows()) {
    expected.emplace_back(std::to_string(code(row.value)), "`" + std::string(row.name) + "`");
  }
  EXPECT_EQ(listed, expected) << mark;
}

}  // namespace perdure::testing_support
