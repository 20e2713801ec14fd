#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

// Input that can never be right: refused at the call, with the field's name, and nothing of it is
// recorded.
namespace perdure::test::bad_input_test {

using namespace std::chrono_literals;

struct Card {
  std::string number;
  double limit = 0;
};
PERDURE_JSON(Card, number, limit)

struct Order {
  std::string id;
  int cents = 0;
  std::uint8_t parts = 0;
  std::optional<int> tip;
  std::vector<Card> cards;
};
PERDURE_JSON(Order, id, cents, parts, tip, cards)

namespace {

inline constexpr Activity<int(Order)> charge{"charge"};
inline constexpr Activity<int(int)> twice{"twice"};
inline constexpr Activity<int(std::string)> measure{"measure"};
inline constexpr Activity<int(Json)> anything{"anything"};
inline constexpr Activity<void(std::uint8_t)> small{"small"};
inline constexpr Event<Order> changed{"changed"};
inline constexpr Orchestration<int(Order)> checkout{"checkout"};
inline constexpr Orchestration<std::string()> probe{"probe"};

/// What the orchestration under test tries; set by each test before it runs.
std::function<void(OrchestrationContext&)> attempt;  // NOLINT: one test at a time

/// Tries the refused thing, catches the refusal, goes on and gives its message as the result.
Task<std::string> run_probe(OrchestrationContext& ctx) {
  std::string message = "not refused";
  try {
    attempt(ctx);
  } catch (const InvalidArgument& refused) {
    message = refused.what();
  }
  co_await ctx.call(twice, 1);
  co_return message;
}

/// The message of the refusal; expects that only the call behind it was recorded.
std::string refusal(std::function<void(OrchestrationContext&)> code) {
  attempt = std::move(code);
  Registry registry;
  registry.add(probe, run_probe);
  ScriptedRun run(registry, "probe");
  const auto& decisions = run.start();
  EXPECT_EQ(run.kinds(), (std::vector{EventKind::kStarted, EventKind::kActivityScheduled}));
  EXPECT_EQ(decisions.work.size(), 1u);
  EXPECT_TRUE(decisions.timers.empty());
  EXPECT_TRUE(decisions.children.empty());
  EXPECT_FALSE(decisions.custom_status);
  EXPECT_FALSE(decisions.next);
  run.complete("twice", "2");
  EXPECT_EQ(run.status(), ExecutionStatus::kCompleted);
  return Json::parse(run.output()).get<std::string>();
}

#define EXPECT_REFUSED(code, message) \
  EXPECT_EQ(refusal([&]([[maybe_unused]] OrchestrationContext& ctx) { code; }), message)

Order order() {
  return {"a", 1, 1, std::nullopt, {}};
}

TEST(BadValue, NanHasNoJsonForm) {
  Order bad = order();
  bad.cards = {{"1", 1.0}, {"2", std::nan("")}};
  EXPECT_REFUSED(ctx.call(charge, bad).detach(),
                 "the input of 'charge': field 'cards[1].limit': NaN and infinity have no JSON "
                 "form");
}

TEST(BadValue, InfinityHasNoJsonForm) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_REFUSED(ctx.set_status(infinite), "the custom status: NaN and infinity have no JSON form");
  EXPECT_REFUSED(ctx.set_status(-infinite),
                 "the custom status: NaN and infinity have no JSON form");
}

TEST(BadValue, TextMustBeUtf8) {
  Order bad = order();
  bad.cards = {{"\xff", 1.0}};
  EXPECT_REFUSED(ctx.call(charge, bad).detach(),
                 "the input of 'charge': field 'cards[0].number': a text is not valid UTF-8");
  EXPECT_REFUSED(ctx.call(measure, "caf\xe9").detach(),
                 "the input of 'measure': a text is not valid UTF-8");
  const Json key{{"\xc3", 1}};
  EXPECT_REFUSED(ctx.call(anything, key).detach(),
                 "the input of 'anything': field '?': a text is not valid UTF-8");
}

TEST(BadValue, TextMustNotHoldNul) {
  Order bad = order();
  bad.id = std::string("a\0b", 3);
  EXPECT_REFUSED(ctx.call(charge, bad).detach(),
                 "the input of 'charge': field 'id': a text holds a NUL character");
}

TEST(BadValue, DepthIsLimited) {
  Json deep = 1;
  for (int level = 0; level < 600; ++level) deep = Json::array({std::move(deep)});
  EXPECT_NE(refusal([&](OrchestrationContext& ctx) {
              ctx.call(anything, deep).detach();
            }).find("nested deeper than 500 levels"),
            std::string::npos);
}

TEST(BadValue, SizeIsLimitedToTwoMebibytes) {
  const std::size_t limit = std::size_t{2} << 20;
  const std::string fits(limit - 2, 'x');  // and two quotes
  const std::string large(limit - 1, 'x');
  const std::string message =
      " 2097153 bytes of JSON, the limit is 2097152: store large data elsewhere and pass a "
      "reference";
  EXPECT_REFUSED(ctx.call(measure, large).detach(), "the input of 'measure':" + message);
  EXPECT_REFUSED(ctx.set_status(large), "the custom status:" + message);
  attempt = [&](OrchestrationContext& ctx) { ctx.call(measure, fits).detach(); };
  Registry registry;
  registry.add(probe, run_probe);
  ScriptedRun run(registry, "probe");
  EXPECT_EQ(run.start().work.size(), 2u) << "a payload of just the limit is taken";
}

TEST(BadValue, IntegerMustFitItsType) {
  EXPECT_REFUSED(ctx.call(twice, 5'000'000'000).detach(),
                 "the input of 'twice': 5000000000 does not fit its type");
  EXPECT_REFUSED(ctx.call(small, -1).detach(), "the input of 'small': -1 does not fit its type");
}

TEST(BadResult, OfMainFailsTheRun) {
  static constexpr Orchestration<std::string()> large{"large"};
  Registry registry;
  registry.add(large, [](OrchestrationContext&) -> Task<std::string> {
    co_return std::string(std::size_t{3} << 20, 'x');
  });
  ScriptedRun run(registry, "large");
  run.start();
  EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
  EXPECT_NE(run.failure().message.find("the result of 'large': 3145730 bytes"), std::string::npos);
  EXPECT_EQ(run.failure().type, kInvalidArgumentFailure);
  EXPECT_FALSE(run.failure().retryable);
}

constexpr const char* kIdRule = " must be 1 to 255 bytes of UTF-8 without NUL, but ";
const std::string kTooLong(256, 'x');

TEST(BadId, OfAChild) {
  const Order input = order();
  EXPECT_REFUSED(ctx.call(checkout, input, {.id = kTooLong}).detach(),
                 std::string("child id") + kIdRule + "it has 256 bytes");
  EXPECT_REFUSED(ctx.call(checkout, input, {.id = "\xff"}).detach(),
                 std::string("child id") + kIdRule + "it is not valid UTF-8");
}

TEST(BadId, OfADetachedRun) {
  const Order input = order();
  EXPECT_REFUSED(ctx.start_detached(checkout, "", input),
                 std::string("id") + kIdRule + "it is empty");
  EXPECT_REFUSED(ctx.start_detached(checkout, std::string_view("a\0b", 3), input),
                 std::string("id") + kIdRule + "it contains NUL");
}

TEST(BadId, OfAnEvent) {
  EXPECT_REFUSED(ctx.wait_for(Event<int>("")).detach(),
                 std::string("event name") + kIdRule + "it is empty");
  EXPECT_REFUSED(ctx.wait_for(Event<int>(kTooLong)).detach(),
                 std::string("event name") + kIdRule + "it has 256 bytes");
}

TEST(BadId, OfAQueue) {
  const Order input = order();
  const std::string message = std::string("queue") + kIdRule + "it has 256 bytes";
  EXPECT_REFUSED(ctx.call(twice, 1, {.queue = kTooLong}).detach(), message);
  EXPECT_REFUSED(ctx.call(checkout, input, {.queue = kTooLong}).detach(), message);
  EXPECT_REFUSED(ctx.start_detached(checkout, "other", input, {.queue = kTooLong}), message);
}

TEST(BadId, OfAName) {
  EXPECT_REFUSED(ctx.call(Activity<int()>("")).detach(),
                 std::string("activity name") + kIdRule + "it is empty");
  EXPECT_REFUSED(ctx.call(Orchestration<int()>(kTooLong)).detach(),
                 std::string("orchestration name") + kIdRule + "it has 256 bytes");
  EXPECT_REFUSED(ctx.patched(""), std::string("patch id") + kIdRule + "it is empty");
}

TEST(BadId, OfAnUndoDropsTheCall) {
  attempt = [](OrchestrationContext& ctx) {
    ctx.call(twice, 1).undo_with(Activity<void(int)>("undo"), {.queue = kTooLong}).detach();
  };
  Registry registry;
  registry.add(probe, run_probe);
  ScriptedRun run(registry, "probe");
  run.start();
  EXPECT_EQ(run.work().size(), 1u) << "what the refused expression called is given up";
  run.complete("twice", "2");
  EXPECT_EQ(run.output(),
            "\"undo queue must be 1 to 255 bytes of UTF-8 without NUL, but it has "
            "256 bytes\"");
}

TEST(BadVersion, MustBeOneToThreeNumbers) {
  const Order input = order();
  const std::string message = "version 'v1': use one to three numbers, as in \"1.4.2\"";
  EXPECT_REFUSED(ctx.call(checkout, input, {.version = "v1"}).detach(), message);
  EXPECT_REFUSED(ctx.start_detached(checkout, "other", input, {.version = "v1"}), message);
  EXPECT_REFUSED(ctx.call(checkout, input, {.version = "1.2.3.4"}).detach(),
                 "version '1.2.3.4': use one to three numbers, as in \"1.4.2\"");
}

TEST(BadVersion, OfContinueAsNewLeavesTheRunGoing) {
  EXPECT_REFUSED((void)ctx.continue_as_new(Orchestration<int(int)>("probe"), 1, "1.x"),
                 "version '1.x': use one to three numbers, as in \"1.4.2\"");
}

TEST(BadSelf, ContinueAsNewWantsTheOwnContract) {
  const Order input = order();
  EXPECT_REFUSED((void)ctx.continue_as_new(checkout, input),
                 "continue_as_new: 'checkout' is not this orchestration: it is 'probe'");
  EXPECT_REFUSED((void)ctx.continue_as_new(Orchestration<int()>("other")),
                 "continue_as_new: 'other' is not this orchestration: it is 'probe'");
}

TEST(BadDuration, MustNotBeNegative) {
  const Order input = order();
  const auto message = [](const char* field) {
    return std::string(field) + ": a duration must not be negative";
  };
  EXPECT_REFUSED(ctx.timer(-1us).detach(), message("timer"));
  EXPECT_REFUSED(ctx.call(twice, 1, {.timeout = -1s}).detach(), message("timeout"));
  EXPECT_REFUSED(ctx.call(twice, 1, {.start_to_close = -1s}).detach(), message("start_to_close"));
  EXPECT_REFUSED(ctx.call(twice, 1, {.schedule_to_start = -1s}).detach(),
                 message("schedule_to_start"));
  EXPECT_REFUSED(ctx.call(twice, 1, {.heartbeat = -1s}).detach(), message("heartbeat"));
  EXPECT_REFUSED(ctx.call(checkout, input, {.timeout = -1s}).detach(), message("timeout"));
  EXPECT_REFUSED(ctx.start_detached(checkout, "other", input, {.delay = -1s}), message("delay"));
  EXPECT_REFUSED(ctx.start_detached(checkout, "other", input, {.run_timeout = -1s}),
                 message("run_timeout"));
}

TEST(BadRetry, EveryFieldIsChecked) {
  const auto message = [](Retry policy) {
    return refusal(
        [&](OrchestrationContext& ctx) { ctx.call(twice, 1, {.retry = policy}).detach(); });
  };
  EXPECT_EQ(message({.max_attempts = -1}),
            "max_attempts must be 0 (without limit) to 1000000, but it is -1");
  EXPECT_EQ(message({.first_delay = -1s}),
            "first_delay must be zero or longer, but it is "
            "-1000000 us");
  EXPECT_EQ(message({.backoff = 0.5}), "backoff must be 1 to 100, but it is 0.500000");
  EXPECT_EQ(message({.backoff = std::nan("")}), "backoff must be 1 to 100, but it is nan");
  EXPECT_EQ(message({.first_delay = 2s, .max_delay = 1s}),
            "max_delay must be first_delay (2000000 us) or longer, but it is 1000000 us");
  EXPECT_EQ(message({.jitter = 2}), "jitter must be 0 to 1, but it is 2.000000");
  EXPECT_EQ(message(retry(2).except("\xff")),
            "non_retryable must hold failure types: valid UTF-8, not empty, without NUL");
  EXPECT_THROW(retry(2).except("1", "2", "3", "4", "5").except("6", "7", "8", "9"),
               InvalidArgument);
}

TEST(BadReason, OfAScopeMustBeUtf8) {
  EXPECT_REFUSED(ctx.scope().cancel("\xff"),
                 "reason of a scope's cancel: must be valid UTF-8 without NUL");
}

// --- Registration.

std::string registration(const std::function<void(Registry&)>& add) {
  Registry registry;
  try {
    add(registry);
  } catch (const InvalidArgument& refused) {
    return refused.what();
  }
  return "not refused";
}

Task<std::string> other_probe(OrchestrationContext&) {
  co_return "";
}

TEST(BadRegistration, NameTakenTwice) {
  const auto handler = [](int value) { return value; };
  EXPECT_EQ(registration([&](Registry& all) { all.add(twice, handler).add(twice, handler); }),
            "activity 'twice' is registered already");
  EXPECT_EQ(registration([](Registry& all) { all.add(probe, run_probe).add(probe, other_probe); }),
            "orchestration 'probe' is registered already");
  EXPECT_EQ(registration([](Registry& all) {
              all.add(probe, run_probe, "1.2").add(probe, other_probe, "1.2.0");
            }),
            "orchestration 'probe' is registered already with version 1.2.0");
  EXPECT_EQ(registration(
                [](Registry& all) { all.add(probe, run_probe, "1").add(probe, other_probe, "2"); }),
            "not refused");
}

TEST(BadRegistration, VersionThatDoesNotParse) {
  for (const char* version : {"one", "1.", "1..2", "1.2.3.4", "-1", " 1", "99999999999"}) {
    EXPECT_EQ(registration([&](Registry& all) { all.add(probe, run_probe, version); }),
              "version '" + std::string(version) +
                  "' of orchestration 'probe': use one to three numbers, as in \"1.4.2\"");
  }
}

TEST(BadRegistration, NameThatIsNoId) {
  EXPECT_EQ(registration([](Registry& all) { all.add(Activity<int()>(""), [] { return 1; }); }),
            std::string("activity name") + kIdRule + "it is empty");
  EXPECT_EQ(registration(
                [](Registry& all) { all.add(Orchestration<std::string()>(kTooLong), run_probe); }),
            std::string("orchestration name") + kIdRule + "it has 256 bytes");
}

// --- Payloads of the wrong shape.

Task<int> run_checkout(OrchestrationContext& ctx, Order input) {
  co_await ctx.call(twice, input.cents);
  co_return input.cents;
}

std::string failure_for(std::string input) {
  Registry registry;
  registry.add(checkout, run_checkout);
  ScriptedRun run(registry, "checkout", std::move(input));
  run.start();
  if (run.status() == ExecutionStatus::kRunning) return "accepted";
  EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
  EXPECT_EQ(run.failure().type, kBadInputFailure);
  EXPECT_FALSE(run.failure().retryable);
  EXPECT_EQ(run.kinds(), (std::vector{EventKind::kStarted, EventKind::kFailed}));
  return run.failure().message;
}

/// An order as JSON text with one field replaced.
std::string order_with(const char* field, Json value) {
  Json json = order();
  json[field] = std::move(value);
  return json.dump();
}

TEST(BadInput, FailsTheRunAndNamesTheField) {
  const std::string of = "the input of 'checkout': ";
  EXPECT_EQ(failure_for(Json(order()).dump()), "accepted");
  EXPECT_EQ(failure_for("{}"), of + "field 'id': it is missing");
  EXPECT_EQ(failure_for("7"), of + "field 'id': wants an object around it, but found number");
  EXPECT_EQ(failure_for(order_with("cents", "much")),
            of + "field 'cents': type must be number, but is string");
  EXPECT_EQ(failure_for(order_with("id", 5)),
            of + "field 'id': type must be string, but is number");
  EXPECT_EQ(failure_for(order_with("cards", {{{"number", 1}, {"limit", 2}}})),
            of + "field 'cards.number': type must be string, but is number");
  EXPECT_NE(failure_for("{\"id\":").find(of + "parse error"), std::string::npos);
  EXPECT_NE(failure_for("").find(of + "parse error"), std::string::npos);
}

TEST(BadInput, NumbersAreNeitherCutNorWrapped) {
  const auto refused = [](const char* field, const char* value) {
    return std::string("the input of 'checkout': field '") + field + "': " + value +
           " does not fit its type";
  };
  EXPECT_EQ(failure_for(order_with("cents", 1.5)), refused("cents", "1.5"));
  EXPECT_EQ(failure_for(order_with("cents", 5'000'000'000)), refused("cents", "5000000000"));
  EXPECT_EQ(failure_for(order_with("cents", true)), refused("cents", "true"));
  EXPECT_EQ(failure_for(order_with("parts", 256)), refused("parts", "256"));
  EXPECT_EQ(failure_for(order_with("parts", -1)), refused("parts", "-1"));
  EXPECT_EQ(failure_for(order_with("tip", 0.5)), refused("tip", "0.5"));
  EXPECT_EQ(failure_for(order_with("cards", {{{"number", "1"}, {"limit", true}}})),
            "the input of 'checkout': field 'cards.limit': type must be number, but is boolean");
  EXPECT_EQ(failure_for(order_with("cents", 2.0)), "accepted");
  EXPECT_EQ(failure_for(order_with("tip", nullptr)), "accepted");
  EXPECT_EQ(failure_for(order_with("note", 1.5)), "accepted") << "a field that nobody names";
}

TEST(BadInput, NumbersAtTheTop) {
  const auto read = [](auto type, const char* text) -> std::string {
    try {
      detail::decode<decltype(type)>(text, "it");
      return "accepted";
    } catch (const Failed& failed) {
      return failed.failure().message;
    }
  };
  EXPECT_EQ(read(int{}, "1.5"), "it: 1.5 does not fit its type");
  EXPECT_EQ(read(int{}, "true"), "it: true does not fit its type");
  EXPECT_EQ(read(std::uint64_t{}, "-1"), "it: -1 does not fit its type");
  EXPECT_EQ(read(std::int64_t{}, "18446744073709551615"),
            "it: 18446744073709551615 does not fit its type");
  EXPECT_EQ(read(std::int64_t{}, "1e30"), "it: 1e+30 does not fit its type");
  EXPECT_EQ(read(float{}, "1e300"), "it: 1e+300 does not fit its type");
  EXPECT_EQ(read(bool{}, "1"), "it: type must be boolean, but is number");
  EXPECT_EQ(read(std::vector<int>{}, "[1,2.5]"), "it: field '[1]': 2.5 does not fit its type");
  EXPECT_EQ(read(int{}, "7"), "accepted");
  EXPECT_EQ(read(int{}, "7.0"), "accepted");
  EXPECT_EQ(read(std::uint64_t{}, "18446744073709551615"), "accepted");
  EXPECT_EQ(read(std::int64_t{}, "-9223372036854775808"), "accepted");
  EXPECT_EQ(read(float{}, "0.1"), "accepted");
  EXPECT_EQ(read(double{}, "0.1"), "accepted");
  EXPECT_EQ(read(double{}, "3"), "accepted");
  EXPECT_EQ(read(Json{}, "[1.5, true]"), "accepted");
  EXPECT_EQ(read(Json{}, std::string(100'000, '[').c_str()), "it: nested deeper than 500 levels");
}

TEST(BadInput, ResultOfAnActivityIsSeenAtTheAwait) {
  static constexpr Orchestration<std::string()> asks{"asks"};
  Registry registry;
  registry.add(asks, [](OrchestrationContext& ctx) -> Task<std::string> {
    auto asked = ctx.call(twice, 1);
    const auto outcome = co_await asked.outcome();
    auto again = ctx.call(twice, 1);
    std::string caught;
    try {
      co_await again;
    } catch (const Failed& failed) {
      caught = failed.failure().type;
    }
    co_return outcome.failure().message + "; " + caught;
  });
  ScriptedRun run(registry, "asks");
  run.start();
  run.complete("twice", "\"two\"");
  run.complete("twice", "2.5");
  EXPECT_EQ(run.output(),
            "\"the result of 'twice': type must be number, but is string; bad_input\"");
}

TEST(BadInput, PayloadOfAnEventIsSeenAtTheAwait) {
  static constexpr Orchestration<int()> waits{"waits"};
  Registry registry;
  registry.add(waits, [](OrchestrationContext& ctx) -> Task<int> {
    const Order order = co_await ctx.wait_for(changed);
    co_return order.cents;
  });
  ScriptedRun run(registry, "waits");
  run.start();
  run.raise("changed", "{\"id\":\"a\"}");
  EXPECT_EQ(run.status(), ExecutionStatus::kFailed);
  EXPECT_EQ(run.failure().type, kBadInputFailure);
  EXPECT_EQ(run.failure().message, "the payload of event 'changed': field 'cents': it is missing");
}

}  // namespace
}  // namespace perdure::test::bad_input_test
