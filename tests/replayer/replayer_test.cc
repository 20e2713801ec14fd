#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include <perdure/replayer.h>

#include "tests/replayer/sample.h"

namespace perdure::test {
namespace {

std::vector<std::filesystem::path> history_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PERDURE_TEST_HISTORIES)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::filesystem::path file(const std::string& name) {
  return std::filesystem::path(PERDURE_TEST_HISTORIES) / (name + ".json");
}

/// A whole run and, as a file, what today's code would have to repeat of it.
ReplayReport replay_with(Change change, ReplayerOptions options = {}) {
  return Replayer(sample(change), options).check_file(file("approved_and_delivered"));
}

TEST(Replayer, TodaysCodeRepeatsEveryRecordedHistory) {
  const Replayer replayer(sample(), {.strict = true});
  const auto files = history_files();
  ASSERT_GE(files.size(), 6u);
  for (const auto& each : files) {
    const ReplayReport report = replayer.check_file(each);
    EXPECT_TRUE(report.ok) << each << ": " << to_string(report);
    EXPECT_TRUE(report.warnings.empty()) << to_string(report);
    EXPECT_GT(report.events, 4u);
    EXPECT_EQ(report.orchestration, each.stem() == "drained_cart" ? "cart" : "checkout");
    EXPECT_EQ(report.instance_id, "run-1");
  }
}

TEST(Replayer, TodaysCodeRepeatsWhatItRecordsToday) {
  for (const auto& [name, history] : sample_histories()) {
    const ReplayReport report =
        Replayer(sample(), {.strict = true}).check(to_history_json(history));
    EXPECT_TRUE(report.ok) << name << ": " << to_string(report);
  }
}

TEST(Replayer, EventsThatWereCarriedOverAreSeenFirst) {
  const std::string text = R"({
    "format": "perdure-history", "format_version": 1, "orchestration": "checkout",
    "instance_id": "run-1", "execution": 2, "queue": "default", "had_turn": true,
    "events": [
      {"id":1, "kind":"started", "at":10, "name":"checkout", "payload":{"cents":5000,"id":"42"},
       "number":1},
      {"id":2, "kind":"event_received", "at":10, "name":"approved", "payload":false},
      {"id":3, "kind":"event_subscribed", "at":20, "name":"approved"},
      {"id":4, "kind":"timer_created", "at":20, "number":172800000020},
      {"id":5, "kind":"timer_dropped", "at":20, "source":4},
      {"id":6, "kind":"completed", "at":20, "payload":"rejected"}
    ]})";
  const ReplayReport report = Replayer(sample(), {.strict = true}).check(text);
  EXPECT_TRUE(report.ok) << to_string(report);
}

TEST(Replayer, ARenamedCallIsCaught) {
  const ReplayReport report = replay_with(Change::kRenamedCall);
  ASSERT_FALSE(report.ok);
  ASSERT_TRUE(report.mismatch);
  EXPECT_EQ(report.mismatch->expected, "a call of activity 'ship'");
  EXPECT_EQ(report.mismatch->actual, "a call of activity 'notify'");
  EXPECT_NE(report.mismatch->hint.find("patched(id)"), std::string::npos);
  const auto events = sample_histories().at("approved_and_delivered").events;
  const auto& there = events.at(static_cast<std::size_t>(report.mismatch->position) - 1);
  EXPECT_EQ(there.kind, EventKind::kActivityScheduled);
  EXPECT_EQ(there.name, "ship");
  EXPECT_EQ(report.events, events.size());
}

TEST(Replayer, EveryKindOfChangeIsCaught) {
  const auto parts = [](Change change) {
    const ReplayReport report = replay_with(change);
    EXPECT_FALSE(report.ok);
    if (!report.mismatch) return std::string("no mismatch");
    return report.mismatch->expected + " / " + report.mismatch->actual;
  };
  EXPECT_EQ(parts(Change::kAddedCall), "a recorded uuid / a call of activity 'notify'");
  EXPECT_EQ(parts(Change::kRemovedCall), "a call of activity 'ship' / the end 'completed'");
  EXPECT_EQ(parts(Change::kReordered),
            "a call of activity 'ship' / a call of orchestration 'delivery' with id 'delivery-42'");
  EXPECT_EQ(parts(Change::kTimerForCall), "a call of activity 'ship' / a timer");
  EXPECT_EQ(parts(Change::kOtherChildId),
            "a call of orchestration 'delivery' with id 'delivery-42' / a call of orchestration "
            "'delivery' with id 'delivery/42'");
  EXPECT_NE(parts(Change::kEarlyReturn).find("a custom status / "), std::string::npos)
      << parts(Change::kEarlyReturn);
}

TEST(Replayer, AChangeBehindAPatchIsFine) {
  const ReplayReport report = replay_with(Change::kPatchedCall, {.strict = true});
  EXPECT_TRUE(report.ok) << to_string(report);
}

TEST(Replayer, OtherArgumentsWarnAndBlockWhenStrict) {
  const ReplayReport warned = replay_with(Change::kOtherInput);
  EXPECT_TRUE(warned.ok) << to_string(warned);
  ASSERT_EQ(warned.warnings.size(), 1u);
  EXPECT_NE(warned.warnings[0].find("'charge' with other arguments"), std::string::npos);
  const ReplayReport strict = replay_with(Change::kOtherInput, {.strict = true});
  EXPECT_FALSE(strict.ok);
  EXPECT_NE(to_string(strict).find("MISMATCH"), std::string::npos);
}

TEST(Replayer, ARunWithoutATurnHasNothingToCheck) {
  replayer::RecordedHistory history = sample_histories().at("waiting_for_the_parcel");
  history.events.resize(1);
  history.had_turn = false;
  const ReplayReport report = Replayer(sample()).check(to_history_json(history));
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.warnings.size(), 1u);
}

std::string refusal(const Registry& registry, const replayer::RecordedHistory& history) {
  try {
    Replayer(registry).check(to_history_json(history));
  } catch (const InvalidArgument& refused) {
    return refused.what();
  }
  return "accepted";
}

Task<std::string> ends_at_once(OrchestrationContext&, Order) {
  co_return "new";
}

TEST(Replayer, ChecksTheVersionThatTheRunIsOn) {
  replayer::RecordedHistory history = sample_histories().at("approved_and_delivered");
  Registry versions = sample();
  versions.add(checkout, ends_at_once, "2.0");
  EXPECT_TRUE(Replayer(versions).check(to_history_json(history)).ok)
      << "a run without a version stays on the code without one";
  history.version = "2.0";
  EXPECT_FALSE(Replayer(versions).check(to_history_json(history)).ok);
  history.version = "2";
  EXPECT_FALSE(Replayer(versions).check(to_history_json(history)).ok) << "2 is 2.0";
  history.version = "3.0";
  EXPECT_EQ(refusal(versions, history),
            "history: orchestration 'checkout' version 3.0 is not registered; registered are: one "
            "without a version, 2.0");
  EXPECT_EQ(refusal(Registry(), history),
            "history: orchestration 'checkout' version 3.0 is not registered");
}

TEST(Replayer, AFileThatIsMissingOrBroken) {
  const Replayer replayer(sample());
  EXPECT_THROW(replayer.check_file(file("no_such_file")), InvalidArgument);
  try {
    replayer.check("{\"format\": 7}");
    FAIL();
  } catch (const InvalidArgument& refused) {
    EXPECT_STREQ(refused.what(), "history: field 'format': wants a text");
  }
}

}  // namespace
}  // namespace perdure::test
