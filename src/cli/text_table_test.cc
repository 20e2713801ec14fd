#include "cli/text_table.h"

#include <sstream>

#include <gtest/gtest.h>

namespace perdure::cli {
namespace {

std::string printed(const TextTable& table) {
  std::ostringstream out;
  table.print(out);
  return out.str();
}

TEST(TextTable, AlignsColumnsAndLeavesNoBlanksBehind) {
  TextTable table({"ID", "NAME", "NOTE"});
  table.add({"1", "checkout", ""});
  table.add({"ä-2", "", "late"});
  EXPECT_EQ(printed(table),
            "ID   NAME      NOTE\n"
            "1    checkout\n"
            "ä-2            late\n");
}

TEST(TextTable, KeepsARowOnItsLine) {
  TextTable table({"ID", "NAME"});
  table.add({"a\nb", "c\x1b"});
  EXPECT_EQ(printed(table), "ID    NAME\na\\nb  c\\x1b\n");
}

}  // namespace
}  // namespace perdure::cli
