#include "model/version.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace perdure {
namespace {

TEST(Version, OneToThreeNumbers) {
  EXPECT_EQ(parse_version("2")->parts, (std::array{2, 0, 0}));
  EXPECT_EQ(parse_version("1.4")->parts, (std::array{1, 4, 0}));
  EXPECT_EQ(parse_version("1.4.2")->parts, (std::array{1, 4, 2}));
  EXPECT_EQ(parse_version("")->parts, (std::array{0, 0, 0}));
}

TEST(Version, AnythingElseDoesNotParse) {
  for (const char* text : {".",
                           "1.",
                           ".1",
                           "1..2",
                           "1.2.3.4",
                           "1.2.3.",
                           "v1",
                           "1a",
                           "-1",
                           "+1",
                           " 1",
                           "1 ",
                           "1.2-beta",
                           "2147483648",
                           "0x1"}) {
    EXPECT_FALSE(parse_version(text)) << text;
  }
  EXPECT_TRUE(parse_version("2147483647"));
}

TEST(Version, OrderIsByNumber) {
  const char* const ordered[] = {
      "", "0.0.1", "0.9", "0.10", "1", "1.0.1", "1.2", "1.10", "2", "10"};
  for (std::size_t i = 0; i + 1 < std::size(ordered); ++i) {
    EXPECT_LT(*parse_version(ordered[i]), *parse_version(ordered[i + 1])) << ordered[i];
  }
  EXPECT_EQ(*parse_version("1.2"), *parse_version("1.2.0"));
  EXPECT_EQ(*parse_version("1.02"), *parse_version("1.2"));
}

TEST(Version, ThatIsNoneIsRefusedByTheNameOfItsField) {
  for (const char* text : {"", "1", "1.4.2", "01"}) {
    EXPECT_TRUE(check_version("version", text).ok()) << text;
  }
  EXPECT_EQ(check_version("version", "v1").error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(check_version("version", "v1").error().message,
            "version 'v1': use one to three numbers, as in \"1.4.2\"");
  for (const std::string& text : {std::string("\xff"), std::string(256, '0')}) {
    EXPECT_EQ(check_version("version", text).error().message.find("version must be 1 to 255"), 0u);
  }
}

TEST(Version, IsStoredWithoutLeadingZerosAndWithAsManyNumbersAsItHas) {
  for (const char* text : {"", "1", "1.0", "1.0.0", "1.4.2", "0.1", "0"}) {
    EXPECT_EQ(stored_version(text), text);
  }
  EXPECT_EQ(stored_version("01.002.0"), "1.2.0");
  EXPECT_EQ(stored_version("0.0"), "0");
  EXPECT_EQ(stored_version("00.0.0"), "0");
}

TEST(Version, IsServedInAllFormsInWhichItIsStored) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(served_versions("1"), (Texts{"1", "1.0", "1.0.0"}));
  EXPECT_EQ(served_versions("1.0.0"), (Texts{"1", "1.0", "1.0.0"}));
  EXPECT_EQ(served_versions("1.2.0"), (Texts{"1.2", "1.2.0"}));
  EXPECT_EQ(served_versions("1.0.2"), Texts{"1.0.2"});
  EXPECT_EQ(served_versions("1.02"), (Texts{"1.2", "1.2.0", "1.02"})) << "older stores have 1.02";
  EXPECT_EQ(served_versions("0"), Texts{"0"});
  EXPECT_EQ(served_versions("0.0"), (Texts{"0", "0.0"}));
  EXPECT_EQ(served_versions(""), Texts{"0"});
}

}  // namespace
}  // namespace perdure
