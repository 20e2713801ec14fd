#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <perdure/client_options.h>
#include <perdure/errors.h>

namespace perdure {

namespace {

std::string refusal(const std::function<void(ClientOptions&)>& change) {
  ClientOptions options;
  change(options);
  try {
    check(options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(ClientOptions, AreGoodAsTheyStand) {
  EXPECT_EQ(refusal([](ClientOptions&) {}), "(accepted)");
}

TEST(ClientOptions, NameTheFieldThatIsOutOfItsRange) {
  EXPECT_EQ(refusal([](ClientOptions& o) { o.call_timeout = {}; }),
            "call_timeout must be 1000 us to 31536000000000 us, but it is 0 us");
  EXPECT_EQ(
      refusal([](ClientOptions& o) { o.cancel_cleanup_timeout = -Duration(1); }).substr(0, 22),
      "cancel_cleanup_timeout");
  EXPECT_EQ(refusal([](ClientOptions& o) { o.max_payload_bytes = 0; }).substr(0, 27),
            "max_payload_bytes must be 1");
}

}  // namespace

}  // namespace perdure
