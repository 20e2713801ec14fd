#include "replayer/history_json.h"

#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include <perdure/errors.h>
#include <perdure/json.h>

#include "tests/replayer/sample.h"

namespace perdure::test {
namespace {

using replayer::from_history_json;
using replayer::RecordedHistory;
using replayer::to_history_json;

RecordedHistory small_history() {
  RecordedHistory history;
  history.instance_id = "order \"42\"/\xc3\xa4";
  history.execution = ExecutionNo{3};
  history.name = "checkout";
  history.version = "1.2";
  history.queue = "default";
  HistoryEvent event;
  event.id = EventId{1};
  event.name = "checkout";
  event.payload = "{\"b\":1,\"a\":[1.5,null]}";
  event.text = "1.2";
  event.at = time_from_micros(1'800'000'000'123'456);
  history.events.push_back(event);
  return history;
}

/// `small_history` with a second event that holds `payload`.
RecordedHistory with_payload(std::string payload) {
  RecordedHistory history = small_history();
  HistoryEvent event;
  event.id = EventId{2};
  event.kind = EventKind::kEventReceived;
  event.name = "told";
  event.payload = std::move(payload);
  history.events.push_back(event);
  return history;
}

TEST(HistoryJson, LooksLikeItsDescription) {
  EXPECT_EQ(to_history_json(small_history()),
            R"({
 "format": "perdure-history",
 "format_version": 1,
 "orchestration": "checkout",
 "version": "1.2",
 "instance_id": "order \"42\"/)"
            "\xc3\xa4"
            R"(",
 "execution": 3,
 "queue": "default",
 "had_turn": true,
 "events": [
  {"id":1,"kind":"started","at":1800000000123456,"name":"checkout","payload":{"b":1,"a":[1.5,null]},"text":"1.2"}
 ]
}
)");
}

TEST(HistoryJson, TheExampleOfItsDescriptionIsOne) {
  std::ifstream in(PERDURE_TEST_DESCRIPTION, std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const std::string opening = "```json\n";
  const std::size_t begin = page.find(opening) + opening.size();
  const std::string example = page.substr(begin, page.find("```", begin) - begin);
  EXPECT_EQ(to_history_json(from_history_json(example)), example);
}

TEST(HistoryJson, SampleHistoriesComeBackEqual) {
  for (const auto& [name, history] : sample_histories()) {
    EXPECT_EQ(from_history_json(to_history_json(history)), history) << name;
  }
}

TEST(HistoryJson, EveryKindAndEveryFieldComesBack) {
  RecordedHistory history = small_history();
  history.had_turn = false;
  for (const auto& row : CodeTable<EventKind>::rows()) {
    if (row.value == EventKind::kStarted) continue;
    HistoryEvent event;
    event.id = EventId{static_cast<std::int64_t>(history.events.size()) + 1};
    event.kind = row.value;
    event.source = EventId{event.id.value - 1};
    event.name = "n";
    event.payload = "null";
    event.text = "line\nbreak";
    event.number = std::numeric_limits<std::int64_t>::min() + event.id.value;
    event.failure = {"type", "message", event.id.value % 2 == 0, "{\"x\": 1}"};
    event.at = time_from_micros(-event.id.value);
    history.events.push_back(event);
  }
  history.events.back().number = std::numeric_limits<std::int64_t>::max();
  history.events.back().at = kForever;
  EXPECT_EQ(from_history_json(to_history_json(history)), history);
}

TEST(HistoryJson, PayloadsComeBackToTheByte) {
  for (const char* payload : {"",
                              "null",
                              "\"text\"",
                              "{\"b\":1,\"a\":2}",
                              "{\"a\":1,\"a\":2}",
                              " 1 ",
                              "1.10",
                              "1e3",
                              "18446744073709551615",
                              "99999999999999999999",
                              "-0.0",
                              "\"\\u00e4\"",
                              "not json"}) {
    const RecordedHistory history = with_payload(payload);
    EXPECT_EQ(from_history_json(to_history_json(history)), history) << payload;
  }
  const RecordedHistory deep = with_payload(std::string(3000, '[') + std::string(3000, ']'));
  EXPECT_EQ(from_history_json(to_history_json(deep)), deep);
  EXPECT_NE(to_history_json(with_payload("1.5")).find("\"payload\":1.5"), std::string::npos);
  EXPECT_NE(to_history_json(with_payload("1.50")).find("\"payload_text\":\"1.50\""),
            std::string::npos);
}

TEST(HistoryJson, InvalidUtf8IsRefused) {
  EXPECT_THROW(to_history_json(with_payload("\"\xff\"")), InvalidArgument);
}

/// The refusal of the small history with `change` made to its JSON.
template <class Change>
std::string refusal(Change change) {
  Json json = Json::parse(to_history_json(with_payload("1")));
  change(json);
  try {
    from_history_json(json.dump());
  } catch (const InvalidArgument& refused) {
    return refused.what();
  }
  return "accepted";
}

TEST(HistoryJson, RefusalsNameEventAndField) {
  EXPECT_EQ(refusal([](Json&) {}), "accepted");
  EXPECT_EQ(refusal([](Json& json) { json["format"] = "other"; }),
            "history: field 'format': it must be 'perdure-history'");
  EXPECT_EQ(refusal([](Json& json) { json["format_version"] = 2; }),
            "history: field 'format_version': this version of Perdure reads 1");
  EXPECT_EQ(refusal([](Json& json) { json.erase("queue"); }),
            "history: field 'queue': it is missing");
  EXPECT_EQ(refusal([](Json& json) { json["extra"] = 1; }),
            "history: field 'extra': there is no such field");
  EXPECT_EQ(refusal([](Json& json) { json["events"] = Json::array(); }),
            "history: field 'events': wants an array with at least the event 'started'");
  EXPECT_EQ(refusal([](Json& json) { json["orchestration"] = "other"; }),
            "history: event 1: field 'name': it is 'checkout', but the history is one of 'other'");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1] = 7; }),
            "history: event 2: wants an object");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1]["kind"] = "event_lost"; }),
            "history: event 2: field 'kind': 'event_lost' is no kind of event of this version");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1]["kind"] = "started"; }),
            "history: event 2: field 'kind': the first event, and no other, is 'started'");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1]["id"] = 3; }),
            "history: event 2: field 'id': ids count 1, 2, 3 .. without gaps, but it is 3");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1]["at"] = "noon"; }),
            "history: event 2: field 'at': wants an integer of 64 bits");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1]["at"] = 1.5; }),
            "history: event 2: field 'at': wants an integer of 64 bits");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1]["number"] = UINT64_MAX; }),
            "history: event 2: field 'number': wants an integer of 64 bits");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1]["source"] = 2; }),
            "history: event 2: field 'source': it must be the id of an earlier event");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1]["payload_text"] = "1"; }),
            "history: event 2: field 'payload': 'payload_text' stands beside it");
  EXPECT_EQ(refusal([](Json& json) { json["events"][1]["colour"] = "red"; }),
            "history: event 2: field 'colour': there is no such field");
  EXPECT_EQ(refusal([](Json& json) {
              json["events"][1]["failure"] = {{"type", "x"}};
            }),
            "history: event 2: failure: field 'retryable': it is missing");
}

TEST(HistoryJson, WhatIsNoJsonIsRefused) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string(100'000, '[')}) {
    EXPECT_THROW(from_history_json(text), InvalidArgument) << text.substr(0, 10);
  }
}

}  // namespace
}  // namespace perdure::test
