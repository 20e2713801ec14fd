#include "cli/json_argument.h"

#include <gtest/gtest.h>

namespace perdure::cli {
namespace {

std::string refusal(const std::string& text) {
  try {
    return "(accepted) " + parse_json_argument("JSON", text).dump();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

TEST(JsonArgument, IsAnyJsonText) {
  for (const char* text : {"null",
                           "true",
                           "-5",
                           "1.5",
                           "\"yes\"",
                           "[1,[2]]",
                           R"({"a":{"a":1}})",
                           "18446744073709551615",
                           "-9223372036854775808",
                           R"("\u00e4\n")"}) {
    EXPECT_EQ(parse_json_argument("JSON", text), Json::parse(text)) << text;
  }
}

TEST(JsonArgument, SaysWhereOtherTextIsWrong) {
  EXPECT_EQ(refusal("yes").find("JSON: parse error at line 1"), 0U) << refusal("yes");
  EXPECT_NE(refusal("yes").find("in double quotes"), std::string::npos);
  for (const char* text : {"", "{", "[1,]", "1 2", "'a'", "NaN", "1e999", "\"\xFF\""}) {
    EXPECT_EQ(refusal(text).find("JSON: "), 0U) << text << ": " << refusal(text);
  }
}

TEST(JsonArgument, RefusesWhatWouldBeStoredAsSomethingElse) {
  EXPECT_NE(refusal("[18446744073709551616]").find("18446744073709551616 does not fit 64 bits"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"b":{"a":1,"a":2}})").find("key \"a\" twice"), std::string::npos);
}

TEST(JsonArgument, RefusesWhatIsTooDeep) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(refusal(nested(detail::kMaxJsonDepth)).find("(accepted)"), 0U);
  EXPECT_NE(refusal(nested(detail::kMaxJsonDepth + 1)).find("deeper than 500"), std::string::npos);
}

}  // namespace
}  // namespace perdure::cli
