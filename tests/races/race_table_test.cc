#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/failpoint.h"
#include "tests/races/race.h"

/// The page docs/cancellation-races.md against the tests that there are.
namespace perdure::races::race_table_test {

namespace {

using Pair = std::pair<std::string, std::string>;

std::string read_page() {
  std::ifstream file(PERDURE_RACE_TABLE);
  EXPECT_TRUE(file.good()) << PERDURE_RACE_TABLE;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The first two cells of each table row in which both are quoted.
std::vector<Pair> quoted_rows(const std::string& page) {
  std::vector<Pair> rows;
  for (std::size_t at = 0; (at = page.find("\n| `", at)) != std::string::npos; ++at) {
    const std::size_t first = at + 4;
    const std::size_t end = page.find('`', first);
    constexpr std::string_view kNext = "` | `";
    if (page.compare(end, kNext.size(), kNext) != 0) continue;
    const std::size_t second = end + kNext.size();
    rows.emplace_back(page.substr(first, end - first),
                      page.substr(second, page.find('`', second) - second));
  }
  return rows;
}

bool is_point(const std::string& cell) {
  return cell.find('.') != std::string::npos;
}

std::set<std::string> tests_of(const std::string& suite) {
  std::set<std::string> names;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& each = *all.GetTestSuite(i);
    if (each.name() != suite) continue;
    for (int k = 0; k < each.total_test_count(); ++k) names.insert(each.GetTestInfo(k)->name());
  }
  return names;
}

std::string before(std::string_view a, std::string_view b) {
  return std::string(a) + "Before" + std::string(b);
}

}  // namespace

TEST(RaceTable, NamesEachDeedWithItsFailpoint) {
  std::vector<Pair> expected;
  for (const DeedInfo& info : deeds()) expected.emplace_back(info.name, info.point);
  std::vector<Pair> found;
  for (const Pair& row : quoted_rows(read_page())) {
    if (is_point(row.second)) found.push_back(row);
  }
  EXPECT_EQ(found, expected);
}

TEST(RaceTable, HasTwoTestsForEachPairThatItDoesNotRuleOut) {
  std::set<std::set<std::string>> ruled_out;
  for (const Pair& row : quoted_rows(read_page())) {
    if (is_point(row.second)) continue;
    EXPECT_TRUE(ruled_out.insert({row.first, row.second}).second) << row.first << row.second;
  }
  std::set<std::string> expected;
  std::set<std::set<std::string>> known;
  for (const DeedInfo& a : deeds()) {
    for (const DeedInfo& b : deeds()) {
      if (a.deed == b.deed) continue;
      const std::set<std::string> pair{std::string(a.name), std::string(b.name)};
      if (ruled_out.contains(pair)) {
        known.insert(pair);
      } else {
        expected.insert(before(a.name, b.name));
      }
    }
  }
  EXPECT_EQ(known, ruled_out) << "a pair of unknown names";
  EXPECT_EQ(tests_of("Races"), expected);
}

TEST(RaceTable, MentionsEveryPointThatDecidesARace) {
  const std::string page = read_page();
  for (const FailpointInfo& info : failpoint_table()) {
    const bool decides = info.name.starts_with("store.") || info.name.starts_with("runtime.");
    if (!decides) continue;
    EXPECT_NE(page.find("`" + std::string(info.name) + "`"), std::string::npos) << info.name;
  }
}

}  // namespace perdure::races::race_table_test
