#include <gtest/gtest.h>

#include "tests/engine/scripted_run.h"

// Every form of a co_await expression that the guide calls fine destroys what it makes once. g++ 12
// destroys some temporaries twice; the count of living probes tells, and a sanitizer does too.
namespace perdure::test::await_forms_test {

/// Counts its instances; owns memory, so that destroying it twice is also a double free.
class Counted {
 public:
  Counted() { ++living; }
  explicit Counted(std::string text) : text_(std::make_unique<std::string>(std::move(text))) {
    ++living;
  }
  Counted(const Counted& from) : Counted(from.text()) {}
  Counted(Counted&& from) noexcept : text_(std::move(from.text_)) { ++living; }
  Counted& operator=(Counted from) {
    text_ = std::move(from.text_);
    return *this;
  }
  ~Counted() { --living; }
  std::string text() const { return text_ ? *text_ : ""; }

  static inline int living = 0;

 private:
  std::unique_ptr<std::string> text_;
};
void to_json(Json& out, const Counted& value) {
  out = value.text();
}
void from_json(const Json& in, Counted& value) {
  value = Counted(in.get<std::string>());
}

/// An aggregate that owns: a temporary of it is what must not stand in a co_await expression.
struct Parcel {
  Counted probe;
  std::string label;
};
PERDURE_JSON(Parcel, probe, label)

namespace {

using namespace std::chrono_literals;

inline constexpr Activity<Counted(Counted)> send{"send"};
inline constexpr Activity<Parcel(Parcel)> pack{"pack"};
inline constexpr Activity<std::string(std::string)> echo{"echo"};
inline constexpr Activity<int(std::optional<std::string>)> maybe{"maybe"};
inline constexpr Activity<int(std::vector<std::string>)> many{"many"};
inline constexpr Activity<void(Counted)> unsend{"unsend"};
inline constexpr Orchestration<Counted(Counted)> child{"child"};

using Body = Task<std::string> (*)(OrchestrationContext&);

class AwaitForms : public ::testing::Test {
 protected:
  /// Runs `body`, answering all that it calls with the input it gave; its output.
  static std::string run(Body body) {
    static constexpr Orchestration<std::string()> main{"main"};
    const int before = Counted::living;
    std::string output;
    for (const bool keep_frames : {true, false}) {
      Registry registry;
      registry.add(main, body);
      ScriptedRun run(registry, "main");
      run.keep_frames(keep_frames);
      run.start();
      for (int turns = 0; run.status() == ExecutionStatus::kRunning && turns < 50; ++turns) {
        std::vector<Message> answers;
        for (const auto& [event, work] : run.work()) {
          answers.push_back(run.completed(EventId{event}, work.input));
        }
        for (const auto& [event, each] : run.children()) {
          answers.push_back(run.child(EventId{event}, MessageKind::kChildCompleted, each.input));
        }
        if (answers.empty()) {
          run.fire();
        } else {
          run.turn(std::move(answers));
        }
      }
      EXPECT_EQ(run.status(), ExecutionStatus::kCompleted) << run.failure().message;
      output = run.output();
    }
    EXPECT_EQ(Counted::living, before) << "destroyed twice, or not at all";
    return output;
  }
};

TEST_F(AwaitForms, BracedOptions) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const Counted value("a");
              const std::string queue = "gpu";
              const Counted one = co_await ctx.call(
                  send, value, {.queue = queue, .retry = retry(5, 1s), .timeout = 10min});
              const Counted two = co_await ctx.call(child, value, {.id = queue + "/1"});
              const Counted three =
                  co_await ctx.call(send, value, ActivityOptions{.queue = std::string("q") + queue})
                      .undo_with(unsend, {.retry = retry(2).except("fatal")});
              co_return one.text() + two.text() + three.text();
            }),
            "\"aaa\"");
}

TEST_F(AwaitForms, StringsOptionalsAndVectorsAsTemporaries) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const std::string long_text(100, 'x');
              const std::string one = co_await ctx.call(echo, long_text + "!");
              const std::string two = co_await ctx.call(echo, std::string("two"));
              const std::string three = co_await ctx.call(echo, "three");
              std::vector<std::string> list{long_text, "b"};
              auto ignored = ctx.call(many, std::move(list));
              ignored.detach();
              auto absent = ctx.call(maybe, std::optional<std::string>(long_text));
              absent.detach();
              co_return one.substr(99) + two + three;
            }),
            "\"x!twothree\"");
}

TEST_F(AwaitForms, ObjectsWithConstructorsAsTemporaries) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const Counted one = co_await ctx.call(send, Counted("a"));
              const Counted two = co_await ctx.call(child, Counted("b"), {.close_policy = {}});
              co_return one.text() + two.text();
            }),
            "\"ab\"");
}

TEST_F(AwaitForms, NamedAggregates) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const Parcel parcel{Counted("a"), "label"};
              const Parcel packed = co_await ctx.call(pack, parcel);
              Parcel again = co_await ctx.call(pack, packed);
              again = co_await ctx.call(pack, again);
              co_return again.probe.text() + again.label;
            }),
            "\"alabel\"");
}

TEST_F(AwaitForms, NamedAndBorrowingClosures) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const Counted value("a");
              const auto owning = [value] { return value.text(); };
              const std::string one = co_await ctx.call(echo, ctx.side_effect(owning));
              const std::string two =
                  co_await ctx.call(echo, ctx.side_effect([&] { return value.text() + "b"; }));
              co_return one + two;
            }),
            "\"aab\"");
}

Task<Counted> by_value(OrchestrationContext& ctx, Counted value) {
  co_await ctx.timer(1s);
  co_return value;
}
Task<Parcel> parcel_by_value(OrchestrationContext& ctx, Parcel value) {
  co_await ctx.timer(1s);
  co_return value;
}
Parcel make_parcel() {
  return {Counted("g"), "h"};
}
Task<Parcel> made_on_return(OrchestrationContext& ctx) {
  co_await ctx.timer(1s);
  co_return Parcel{Counted("made"), "here"};
}

TEST_F(AwaitForms, SubTasks) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const Counted one = co_await by_value(ctx, Counted("a"));
              const Parcel named{Counted("b"), "c"};
              const Parcel two = co_await parcel_by_value(ctx, named);
              Parcel given{Counted("d"), "e"};
              const Parcel three = co_await parcel_by_value(ctx, std::move(given));
              auto task = by_value(ctx, Counted("f"));
              const Counted four = co_await std::move(task);
              const Parcel five = co_await parcel_by_value(ctx, make_parcel());
              co_return one.text() + two.probe.text() + three.label + four.text() + five.label;
            }),
            "\"abefh\"");
}

TEST_F(AwaitForms, ReturnedAggregates) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const Parcel made = co_await made_on_return(ctx);
              co_return made.probe.text() + made.label;
            }),
            "\"madehere\"");
}

TEST_F(AwaitForms, ResultsUsedInsideTheExpression) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const Counted value("a");
              const Parcel parcel{Counted("b"), "c"};
              const std::string one = (co_await ctx.call(send, value)).text();
              const std::string two = (co_await ctx.call(pack, parcel)).label;
              std::vector<Parcel> parcels;
              parcels.push_back(co_await ctx.call(pack, parcel));
              const std::string three = (co_await made_on_return(ctx)).label;
              co_return one + two + parcels.front().probe.text() + three;
            }),
            "\"acbhere\"");
}

TEST_F(AwaitForms, SpawnedShieldedAndScoped) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const Parcel parcel{Counted("p"), "q"};
              auto one = ctx.spawn(by_value(ctx, Counted("a")));
              auto two = ctx.shield(parcel_by_value(ctx, parcel));
              Scope scope = ctx.scope();
              auto three = scope.spawn(by_value(ctx, Counted("c")));
              const auto [first, second, third] = co_await when_all(one, two, three);
              const Counted four = co_await ctx.spawn(by_value(ctx, Counted("d")));
              co_return first.text() + second.label + third.text() + four.text();
            }),
            "\"aqcd\"");
}

TEST_F(AwaitForms, ManyAtOnceAndOutcomes) {
  EXPECT_EQ(run([](OrchestrationContext& ctx) -> Task<std::string> {
              const Parcel parcel{Counted("p"), "q"};
              std::vector<Future<Parcel>> parcels;
              for (int i = 0; i < 3; ++i) parcels.push_back(ctx.call(pack, parcel));
              std::string text;
              for (const Parcel& each : co_await when_all(std::move(parcels))) text += each.label;
              auto last = ctx.call(pack, parcel);
              const auto outcome = co_await last.outcome();
              text += outcome.value().probe.text();
              auto more = ctx.call(pack, parcel);
              text += (co_await more.outcome()).value().label;
              co_return text;
            }),
            "\"qqqpq\"");
}

}  // namespace
}  // namespace perdure::test::await_forms_test
