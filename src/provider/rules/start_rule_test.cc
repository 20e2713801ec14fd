#include "provider/rules/start_rule.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/ids.h"

namespace perdure::rules {
namespace {

using std::chrono::microseconds;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::array kConflicts{
    OnConflict::kFail, OnConflict::kUseExisting, OnConflict::kCancelExisting};
constexpr std::array kReuses{OnReuse::kAllow, OnReuse::kOnlyFailed, OnReuse::kReject};

struct StatusRow {
  ExecutionStatus status;
  std::string_view steps;
};

// Written down by hand: three columns of on_reuse for each on_conflict, in the order of the arrays
// above. n = next execution, e = answer the existing one, s = cancel and store, - = Conflict.
// A current execution is never continued_as_new: its successor is born in the same commit.
constexpr std::array kStartMatrix{
    StatusRow{ExecutionStatus::kRunning, "---eeesss"},
    StatusRow{ExecutionStatus::kCompleting, "---eeesss"},
    StatusRow{ExecutionStatus::kFailing, "---eeesss"},
    StatusRow{ExecutionStatus::kCanceling, "---eeesss"},
    StatusRow{ExecutionStatus::kCompleted, "n--n--n--"},
    StatusRow{ExecutionStatus::kFailed, "nn-nn-nn-"},
    StatusRow{ExecutionStatus::kCanceled, "nn-nn-nn-"},
    StatusRow{ExecutionStatus::kTerminated, "nn-nn-nn-"},
};

char letter(const Result<StartStep>& step) {
  if (!step.ok()) return step.code() == ErrorCode::kConflict ? '-' : '?';
  switch (*step) {
    case StartStep::kCreate:
      return 'c';
    case StartStep::kNextExecution:
      return 'n';
    case StartStep::kAnswerExisting:
      return 'e';
    case StartStep::kCancelAndStore:
      return 's';
  }
  return '?';
}

/// The letters of all policies, in the order of the matrix.
std::string steps_for(std::optional<ExecutionStatus> current) {
  std::string steps;
  for (const OnConflict on_conflict : kConflicts) {
    for (const OnReuse on_reuse : kReuses) {
      steps += letter(decide_start("order-7", current, on_conflict, on_reuse));
    }
  }
  return steps;
}

TEST(StartRule, FollowsTheMatrixOfStatusAndPolicies) {
  for (const StatusRow& row : kStartMatrix) {
    EXPECT_EQ(steps_for(row.status), row.steps) << row.status;
  }
}

TEST(StartRule, HasARowForEveryStatusOfACurrentExecution) {
  for (const auto& listed : CodeTable<ExecutionStatus>::rows()) {
    int found = 0;
    for (const StatusRow& row : kStartMatrix) found += row.status == listed.value ? 1 : 0;
    EXPECT_EQ(found, listed.value == ExecutionStatus::kContinuedAsNew ? 0 : 1) << listed.name;
  }
}

TEST(StartRule, CreatesAnUnknownIdWhateverThePolicies) {
  EXPECT_EQ(steps_for(std::nullopt), "ccccccccc");
}

TEST(StartRule, ConflictWithALiveRunNamesIdStatusAndWhatToSet) {
  const auto refused =
      decide_start("order-7", ExecutionStatus::kCanceling, OnConflict::kFail, OnReuse::kAllow);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("'order-7'"));
  EXPECT_THAT(refused.error().message, HasSubstr("canceling"));
  EXPECT_THAT(refused.error().message, HasSubstr("on_conflict"));
}

TEST(StartRule, ConflictWithAnEndedRunNamesIdStatusAndWhatToSet) {
  const auto refused = decide_start(
      "order-7", ExecutionStatus::kCompleted, OnConflict::kCancelExisting, OnReuse::kOnlyFailed);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("'order-7'"));
  EXPECT_THAT(refused.error().message, HasSubstr("completed"));
  EXPECT_THAT(refused.error().message, HasSubstr("on_reuse"));
}

// --- Fields of the requests ---------------------------------------------------------------------

template <class Request>
struct IdField {
  std::string_view name;
  std::string Request::*member;
  bool may_be_empty = false;
};

template <class Request>
struct DurationField {
  std::string_view name;
  Duration Request::*member;
};

StartOrchestration good_start() {
  StartOrchestration request;
  request.id = "order-7";
  request.name = "checkout";
  return request;
}

RaiseEvent good_event() {
  RaiseEvent request;
  request.id = "order-7";
  request.name = "paid";
  return request;
}

MakeRequest good_request(RequestKind kind) {
  MakeRequest request;
  request.kind = kind;
  request.id = "order-7";
  request.request = "u-1";
  request.name = "add_item";
  return request;
}

StartOrchestration start_with(RequestKind kind) {
  StartOrchestration request = good_start();
  request.with = StartMessage{kind, "add_item", "1", kind == RequestKind::kUpdate ? "u-1" : ""};
  return request;
}

const std::vector<IdField<StartOrchestration>> kStartIds{
    {"id", &StartOrchestration::id},
    {"name", &StartOrchestration::name},
    {"version", &StartOrchestration::version, true},
    {"queue", &StartOrchestration::queue},
    {"request_id", &StartOrchestration::request_id, true},
};
const std::vector<DurationField<StartOrchestration>> kStartDurations{
    {"delay", &StartOrchestration::delay},
    {"run_timeout", &StartOrchestration::run_timeout},
};
const std::vector<IdField<RaiseEvent>> kEventIds{
    {"id", &RaiseEvent::id},
    {"name", &RaiseEvent::name},
    {"request_id", &RaiseEvent::request_id, true},
};
const std::vector<DurationField<RaiseEvent>> kEventDurations{
    {"delay", &RaiseEvent::delay},
    {"buffer_for", &RaiseEvent::buffer_for},
};

const std::vector<IdField<MakeRequest>> kRequestIds{
    {"id", &MakeRequest::id},
    {"request", &MakeRequest::request},
    {"name", &MakeRequest::name},
};

/// The request is refused, and the message begins with the field.
template <class Request>
void expect_refused(const Request& request, std::string_view field) {
  const Status status = check(request);
  ASSERT_FALSE(status.ok()) << field;
  EXPECT_EQ(status.code(), ErrorCode::kInvalidArgument) << field;
  EXPECT_THAT(status.error().message, StartsWith(std::string(field) + " must "));
}

template <class Request>
void expect_ids_checked(const Request& good, const std::vector<IdField<Request>>& fields) {
  for (const IdField<Request>& field : fields) {
    Request request = good;
    request.*field.member = std::string(kMaxIdBytes, 'x');
    EXPECT_TRUE(check(request).ok()) << field.name;
    request.*field.member = std::string(kMaxIdBytes + 1, 'x');
    expect_refused(request, field.name);
    request.*field.member = std::string("a\0b", 3);
    expect_refused(request, field.name);
    request.*field.member = "\xc3(";
    expect_refused(request, field.name);
    request.*field.member = "";
    if (field.may_be_empty) {
      EXPECT_TRUE(check(request).ok()) << field.name;
    } else {
      expect_refused(request, field.name);
    }
  }
}

template <class Request>
void expect_durations_checked(const Request& good,
                              const std::vector<DurationField<Request>>& fields) {
  for (const DurationField<Request>& field : fields) {
    Request request = good;
    request.*field.member = microseconds(-1);
    expect_refused(request, field.name);
    request.*field.member = microseconds(0);
    EXPECT_TRUE(check(request).ok()) << field.name;
    request.*field.member = Duration::max();
    EXPECT_TRUE(check(request).ok()) << field.name;
  }
}

template <class Request>
void expect_payload_checked(Request request, std::string Request::*member, std::string_view field) {
  request.*member = "";
  EXPECT_TRUE(check(request).ok());
  request.*member = "{\"text\": \"\xc3\xa4\", \"long\": \"" + std::string(100'000, 'x') + "\"}";
  EXPECT_TRUE(check(request).ok());
  request.*member = "not JSON, which is none of the store's business";
  EXPECT_TRUE(check(request).ok());
  request.*member = "\"\xff\"";
  expect_refused(request, field);
}

TEST(StartCheck, AcceptsARequestWithIdAndName) {
  EXPECT_TRUE(check(good_start()).ok());
}

TEST(StartCheck, NamesTheTextThatCannotBeAnId) {
  expect_ids_checked(good_start(), kStartIds);
}

TEST(StartCheck, NamesTheNegativeDuration) {
  expect_durations_checked(good_start(), kStartDurations);
}

TEST(StartCheck, WantsTheInputInUtf8AndNothingElse) {
  expect_payload_checked(good_start(), &StartOrchestration::input, "input");
}

TEST(EventCheck, AcceptsARequestWithIdAndName) {
  EXPECT_TRUE(check(good_event()).ok());
}

TEST(EventCheck, NamesTheTextThatCannotBeAnId) {
  expect_ids_checked(good_event(), kEventIds);
}

TEST(EventCheck, NamesTheNegativeDuration) {
  expect_durations_checked(good_event(), kEventDurations);
}

TEST(EventCheck, WantsThePayloadInUtf8AndNothingElse) {
  expect_payload_checked(good_event(), &RaiseEvent::payload, "payload");
}

TEST(EventCheck, BuffersNoSignal) {
  RaiseEvent request = good_event();
  request.as_signal = true;
  request.delay = microseconds(1);
  EXPECT_TRUE(check(request).ok());
  request.buffer_for = microseconds(1);
  expect_refused(request, "buffer_for");
  request.as_signal = false;
  EXPECT_TRUE(check(request).ok());
}

// --- What a start brings along ------------------------------------------------------------------

TEST(StartCheck, LetsASignalOrAnUpdateComeAlong) {
  for (const RequestKind kind : {RequestKind::kSignal, RequestKind::kUpdate}) {
    StartOrchestration request = start_with(kind);
    EXPECT_TRUE(check(request).ok()) << to_string(kind);
    request.on_conflict = OnConflict::kUseExisting;
    EXPECT_TRUE(check(request).ok()) << to_string(kind);
  }
}

TEST(StartCheck, LetsNothingElseComeAlong) {
  for (const auto& row : CodeTable<RequestKind>::rows()) {
    if (row.value == RequestKind::kSignal || row.value == RequestKind::kUpdate) continue;
    expect_refused(start_with(row.value), "with.kind");
  }
}

TEST(StartCheck, NamesTheFieldOfWhatComesAlong) {
  for (const std::string& bad : {std::string(), std::string(256, 'x'), std::string("\xff")}) {
    StartOrchestration request = start_with(RequestKind::kUpdate);
    request.with->name = bad;
    expect_refused(request, "with.name");
    request = start_with(RequestKind::kUpdate);
    request.with->request = bad;
    expect_refused(request, "with.request");
  }
  StartOrchestration request = start_with(RequestKind::kSignal);
  request.with->payload = "\xff";
  expect_refused(request, "with.payload");
}

TEST(StartCheck, LetsNothingComeAlongToARunThatDoesNotExistYet) {
  StartOrchestration request = start_with(RequestKind::kSignal);
  request.on_conflict = OnConflict::kCancelExisting;
  expect_refused(request, "with");
}

// --- Requests to runs ---------------------------------------------------------------------------

TEST(RequestCheck, AcceptsUpdatesAndQueries) {
  EXPECT_TRUE(check(good_request(RequestKind::kUpdate)).ok());
  EXPECT_TRUE(check(good_request(RequestKind::kQuery)).ok());
}

TEST(RequestCheck, RefusesOtherKinds) {
  for (const auto& row : CodeTable<RequestKind>::rows()) {
    if (row.value == RequestKind::kUpdate || row.value == RequestKind::kQuery) continue;
    expect_refused(good_request(row.value), "kind");
  }
}

TEST(RequestCheck, NamesTheTextThatCannotBeAnId) {
  expect_ids_checked(good_request(RequestKind::kUpdate), kRequestIds);
  expect_ids_checked(good_request(RequestKind::kQuery), kRequestIds);
}

TEST(RequestCheck, WantsThePayloadInUtf8AndNothingElse) {
  expect_payload_checked(good_request(RequestKind::kUpdate), &MakeRequest::payload, "payload");
}

TEST(RequestCheck, WantsATimeForAQueryAlone) {
  for (const Duration time : {microseconds(0), microseconds(-1)}) {
    MakeRequest request = good_request(RequestKind::kQuery);
    request.expires_after = time;
    expect_refused(request, "expires_after");
    request.kind = RequestKind::kUpdate;
    EXPECT_TRUE(check(request).ok());
  }
}

}  // namespace
}  // namespace perdure::rules
