#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "tests/conformance/answers.h"
#include "tests/conformance/conformance.h"

/// Bad input of a start is refused by the name of its field, and nothing of it is stored.
namespace perdure::conformance {

namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// True when `text` has `word` and it is not a part of a longer word.
bool names(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto behind = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (behind == text.size() || !is_word(text[behind]))) {
      return true;
    }
  }
  return false;
}

const std::string kTooLong(kMaxIdBytes + 1, 'x');
const std::string kLongest(kMaxIdBytes, 'x');
const std::string kNotUtf8 = "bad \xff byte";
const std::string kWithNul("nul\0byte", 8);

}  // namespace

class StartInput : public Conformance {
 protected:
  /// A start of "a" that is changed by the test.
  StartOrchestration request() { return start_request("a"); }

  void expect_refused(StartOrchestration bad, const char* field) {
    const auto answer = store().start_orchestration(std::move(bad));
    ASSERT_FALSE(answer.ok()) << field;
    EXPECT_EQ(answer.code(), ErrorCode::kInvalidArgument) << field;
    EXPECT_TRUE(names(answer.error().message, field)) << answer.error().message;
    EXPECT_EQ(refusal(store().get_instance("a")), ErrorCode::kNotFound) << field;
    EXPECT_FALSE(try_lock()) << field;
  }
};

TEST_P(StartInput, EmptyIdIsRefused) {
  expect_refused(start_request(""), "id");
}

TEST_P(StartInput, IdMayBeAsLongAsTheLimitAndNoLonger) {
  expect_refused(start_request(kTooLong), "id");

  start(kLongest);

  EXPECT_EQ(lock(kLongest).id, kLongest);
}

TEST_P(StartInput, IdThatIsNotUtf8IsRefused) {
  expect_refused(start_request(kNotUtf8), "id");
  expect_refused(start_request("overlong \xc0\xaf"), "id");
  expect_refused(start_request("cut \xe2\x82"), "id");

  start("\xe2\x82\xac");

  EXPECT_EQ(lock().id, "\xe2\x82\xac") << "every valid text is an id";
}

TEST_P(StartInput, IdWithNulIsRefused) {
  expect_refused(start_request(kWithNul), "id");
}

TEST_P(StartInput, BadNameIsRefused) {
  for (const std::string& bad : {std::string(), kTooLong, kNotUtf8, kWithNul}) {
    StartOrchestration start = request();
    start.name = bad;
    expect_refused(std::move(start), "name");
  }
}

TEST_P(StartInput, BadQueueIsRefused) {
  for (const std::string& bad : {std::string(), kTooLong, kNotUtf8, kWithNul}) {
    StartOrchestration start = request();
    start.queue = bad;
    expect_refused(std::move(start), "queue");
  }
}

TEST_P(StartInput, BadVersionIsRefused) {
  for (const std::string& bad : {kTooLong, kNotUtf8, kWithNul}) {
    StartOrchestration start = request();
    start.version = bad;
    expect_refused(std::move(start), "version");
  }
}

TEST_P(StartInput, BadRequestIdIsRefused) {
  for (const std::string& bad : {kTooLong, kNotUtf8, kWithNul}) {
    StartOrchestration start = request();
    start.request_id = bad;
    expect_refused(std::move(start), "request_id");
  }
}

TEST_P(StartInput, NegativeTimesAreRefused) {
  StartOrchestration delayed = request();
  delayed.delay = -1s;
  expect_refused(std::move(delayed), "delay");
  StartOrchestration limited = request();
  limited.run_timeout = -1s;
  expect_refused(std::move(limited), "run_timeout");
}

TEST_P(StartInput, RefusalDoesNotUseUpTheRequestId) {
  StartOrchestration bad = request();
  bad.name = "";
  bad.request_id = "r1";
  expect_refused(std::move(bad), "name");
  StartOrchestration good = request();
  good.request_id = "r1";

  EXPECT_EQ(start(std::move(good)).outcome, StartOutcome::kStarted);
}

PERDURE_CONFORMANCE_SUITE(StartInput);

}  // namespace perdure::conformance
