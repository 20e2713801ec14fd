#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "model/codes.h"
#include "model/enumerators_test.h"

/// What holds for the table of every stored enum; instantiated where the enums are declared.
namespace perdure {

template <class E>
class CodeTables : public testing::Test {};

TYPED_TEST_SUITE_P(CodeTables);

TYPED_TEST_P(CodeTables, ListEveryEnumeratorAndNothingElse) {
  const std::map<int, std::string> declared = testing_support::enumerators<TypeParam>();
  ASSERT_FALSE(declared.empty());
  std::map<int, std::string> listed;
  for (const auto& row : CodeTable<TypeParam>::rows()) {
    const auto number = static_cast<int>(code(row.value));
    EXPECT_TRUE(listed.emplace(number, row.name).second) << "code " << number << " twice";
  }
  for (const auto& [number, spelling] : declared) {
    EXPECT_TRUE(listed.contains(number)) << spelling << " is missing";
  }
  EXPECT_EQ(listed.size(), declared.size());
}

TYPED_TEST_P(CodeTables, NameEveryEnumeratorInSnakeCase) {
  for (const auto& [number, spelling] : testing_support::enumerators<TypeParam>()) {
    EXPECT_EQ(to_string(static_cast<TypeParam>(number)), testing_support::snake_case(spelling));
  }
}

TYPED_TEST_P(CodeTables, GiveEachNameOnce) {
  std::set<std::string_view> names;
  for (const auto& row : CodeTable<TypeParam>::rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " twice";
  }
}

TYPED_TEST_P(CodeTables, LeadFromCodesAndNamesBackToTheValue) {
  for (const auto& row : CodeTable<TypeParam>::rows()) {
    EXPECT_EQ(from_code<TypeParam>(code(row.value)), row.value);
    EXPECT_EQ(from_name<TypeParam>(row.name), row.value);
    std::ostringstream printed;
    printed << row.value;
    EXPECT_EQ(printed.str(), row.name);
  }
}

TYPED_TEST_P(CodeTables, AnswerNothingForUnknownCodes) {
  const std::map<int, std::string> declared = testing_support::enumerators<TypeParam>();
  for (int number = -256; number < 512; ++number) {
    EXPECT_EQ(from_code<TypeParam>(number).has_value(), declared.contains(number)) << number;
  }
  // A number that is cut to a byte would turn into a known one.
  for (const auto& row : CodeTable<TypeParam>::rows()) {
    EXPECT_EQ(from_code<TypeParam>(code(row.value) + (std::int64_t{1} << 32)), std::nullopt);
  }
  EXPECT_EQ(from_code<TypeParam>(std::numeric_limits<std::int64_t>::min()), std::nullopt);
  EXPECT_EQ(from_code<TypeParam>(std::numeric_limits<std::int64_t>::max()), std::nullopt);
}

TYPED_TEST_P(CodeTables, AnswerNothingForUnknownNames) {
  EXPECT_EQ(from_name<TypeParam>(""), std::nullopt);
  EXPECT_EQ(from_name<TypeParam>("no such name"), std::nullopt);
  for (const auto& row : CodeTable<TypeParam>::rows()) {
    EXPECT_EQ(from_name<TypeParam>(std::string(row.name) + " "), std::nullopt);
    EXPECT_EQ(from_name<TypeParam>("k" + std::string(row.name)), std::nullopt);
  }
}

TYPED_TEST_P(CodeTables, PrintAValueWithoutANameAsUnknown) {
  EXPECT_EQ(to_string(static_cast<TypeParam>(255)), "unknown");
}

REGISTER_TYPED_TEST_SUITE_P(CodeTables,
                            ListEveryEnumeratorAndNothingElse,
                            NameEveryEnumeratorInSnakeCase,
                            GiveEachNameOnce,
                            LeadFromCodesAndNamesBackToTheValue,
                            AnswerNothingForUnknownCodes,
                            AnswerNothingForUnknownNames,
                            PrintAValueWithoutANameAsUnknown);

/// Calls the cases after the enum: `CodeTables/EventKind`.
struct EnumNames {
  template <class E>
  static std::string GetName(int) {  // NOLINT(readability-identifier-naming): GoogleTest's name
    return testing_support::type_name<E>();
  }
};

}  // namespace perdure
