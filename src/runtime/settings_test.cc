#include "runtime/settings.h"

#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/member_count.h"

namespace perdure::runtime::settings_test {

namespace {

/// The names of the members of a struct of the public header, in their order.
std::vector<std::string> members_of(const std::string& type) {
  std::ifstream header(std::string(PERDURE_SOURCE_DIR) + "/include/perdure/runtime_options.h");
  EXPECT_TRUE(header.is_open());
  std::vector<std::string> names;
  bool inside = false;
  for (std::string line; std::getline(header, line);) {
    if (line == "struct " + type + " {") inside = true;
    if (line == "};") inside = false;
    const std::size_t end = line.find(" = ");
    if (!inside || end == std::string::npos || line.starts_with("  //")) continue;
    const std::size_t begin = line.rfind(' ', end - 1) + 1;
    names.push_back(line.substr(begin, end - begin));
  }
  return names;
}

std::vector<Setting> rows_with(bool of_queue) {
  std::vector<Setting> rows;
  for (const Setting& each : settings()) {
    if (is_of_queue(each) == of_queue) rows.push_back(each);
  }
  return rows;
}

std::vector<std::string> names_of(const std::vector<Setting>& rows) {
  std::vector<std::string> names;
  for (const Setting& each : rows) names.emplace_back(each.name);
  return names;
}

/// Where the member of a row stands in its struct.
std::uintptr_t place_of(const Setting& row,
                        const RuntimeOptions& options,
                        const WorkerSettings& worker) {
  return std::visit(
      [&](const auto& kind) {
        if constexpr (std::is_invocable_v<decltype(kind.member), const WorkerSettings&>) {
          return reinterpret_cast<std::uintptr_t>(&(worker.*kind.member));
        } else {
          return reinterpret_cast<std::uintptr_t>(&(options.*kind.member));
        }
      },
      row.kind);
}

/// Whether zero is a good value.
struct AllowsZero {
  bool operator()(const TimeSetting& row) const {
    return least_of(row, RuntimeOptions{}) == Duration::zero();
  }
  template <class Owner>
  bool operator()(const CountSetting<Owner>& row) const {
    return row.least == 0;
  }
  bool operator()(const SizeSetting& row) const { return row.least == 0; }
  bool operator()(const QueueTimeSetting& row) const { return row.least == Duration::zero(); }
  bool operator()(const FractionSetting&) const { return true; }
  bool operator()(const auto& /*no number*/) const { return false; }
};

struct OneMember {
  std::string a;
};

struct SomeMembers {
  int a = 1;
  std::vector<int> b = {};
  Duration c = {};
  OneMember d = {};
  bool e = false;
};

TEST(MemberCount, IsThatOfTheStruct) {
  EXPECT_EQ(member_count<OneMember>(), 1U);
  EXPECT_EQ(member_count<SomeMembers>(), 5U);
}

TEST(Settings, NameEveryMemberInItsOrder) {
  EXPECT_EQ(names_of(rows_with(false)), members_of("RuntimeOptions"));
  EXPECT_EQ(names_of(rows_with(true)), members_of("WorkerSettings"));
  EXPECT_EQ(rows_with(false).size(), member_count<RuntimeOptions>());
  EXPECT_EQ(rows_with(true).size(), member_count<WorkerSettings>());
}

// With the names in the order of the members, so each name is with its own member.
TEST(Settings, PointAtTheMembersInTheirOrder) {
  const RuntimeOptions options;
  const WorkerSettings worker;
  for (const bool of_queue : {false, true}) {
    std::uintptr_t last = 0;
    for (const Setting& each : rows_with(of_queue)) {
      const std::uintptr_t place = place_of(each, options, worker);
      EXPECT_GT(place, last) << each.name;
      last = place;
    }
  }
}

TEST(Settings, StandTogetherWithTheirGroup) {
  std::set<std::string_view> ended;
  std::string_view group;
  for (const Setting& each : settings()) {
    if (each.group == group) continue;
    ended.insert(group);
    group = each.group;
    EXPECT_FALSE(ended.contains(group)) << each.name;
  }
}

TEST(Settings, SayWhatZeroMeansWhereItIsGood) {
  for (const Setting& each : settings()) {
    EXPECT_EQ(!each.zero.empty(), std::visit(AllowsZero{}, each.kind)) << each.name;
  }
}

TEST(Settings, AreBoundedByOthersThatAreNot) {
  std::size_t relative = 0;
  for (const Setting& each : settings()) {
    if (!is_relative(each)) continue;
    ++relative;
    const auto& row = std::get<TimeSetting>(each.kind);
    for (const BoundBy& by : {row.least_by, row.most_by}) {
      if (by.member == nullptr) continue;
      EXPECT_FALSE(is_relative(time_setting(by.member))) << each.name;
    }
  }
  EXPECT_EQ(relative, 3U);
}

}  // namespace

}  // namespace perdure::runtime::settings_test
