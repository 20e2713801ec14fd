#include <gtest/gtest.h>

#include <perdure/detail/handler_table.h>
#include <perdure/errors.h>

namespace perdure::detail {
namespace {

ActivityHandler nothing() {
  return [](AttemptApi&, const std::string&) { return std::string("null"); };
}
MainFactory no_main() {
  return [](TurnApi&) { return std::unique_ptr<MainFrame>(); };
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

TEST(HandlerTable, ANameIsRegisteredOnce) {
  HandlerTable table;
  table.add_activity("charge", nothing());
  EXPECT_EQ(error_of([&] { table.add_activity("charge", nothing()); }),
            "activity 'charge' is registered already");
  table.add_orchestration("checkout", "", no_main());
  EXPECT_EQ(error_of([&] { table.add_orchestration("checkout", "", no_main()); }),
            "orchestration 'checkout' is registered already");
  table.add_orchestration("checkout", "1.2", no_main());
  EXPECT_EQ(error_of([&] { table.add_orchestration("checkout", "1.2.0", no_main()); }),
            "orchestration 'checkout' is registered already with version 1.2.0");
  table.add_orchestration("charge", "", no_main());
  EXPECT_EQ(table.activity_names(), std::vector<std::string>{"charge"});
}

TEST(HandlerTable, KeepsWhatWasSaidOfAHandler) {
  HandlerTable table;
  const HandlerOptions isolated{.isolation = Isolation::kProcess, .interruptible = true};
  table.add_activity("charge", nothing());
  table.add_activity("render", nothing(), isolated);
  EXPECT_EQ(table.activity_options("charge"), HandlerOptions{});
  EXPECT_EQ(table.activity_options("render"), isolated);
  EXPECT_EQ(table.activity_options("missing"), HandlerOptions{});
}

TEST(HandlerTable, NamesAndVersionsAreCheckedAndNothingIsAdded) {
  HandlerTable table;
  EXPECT_NE(error_of([&] { table.add_activity("", nothing()); }), "none");
  EXPECT_NE(error_of([&] { table.add_activity(std::string(256, 'x'), nothing()); }), "none");
  EXPECT_NE(error_of([&] { table.add_orchestration("\xff", "", no_main()); }), "none");
  for (const char* version :
       {"x", "1.", ".1", "1.2.3.4", "-1", "1.-2", " 1", "1 ", "99999999999"}) {
    EXPECT_NE(error_of([&] { table.add_orchestration("o", version, no_main()); }).find("version"),
              std::string::npos)
        << version;
  }
  EXPECT_TRUE(table.activity_names().empty());
  EXPECT_TRUE(table.orchestrations().empty());
  EXPECT_EQ(table.find_orchestration("o", ""), nullptr);
}

TEST(HandlerTable, VersionsAreOrderedByNumberAndTheNewestIsTheDefault) {
  HandlerTable table;
  for (const char* version : {"1.10", "2", "1.9.5", "", "1.10.1"}) {
    table.add_orchestration("o", version, no_main());
  }
  table.add_orchestration("a", "7", no_main());
  std::string all;
  for (const OrchestrationHandler* each : table.orchestrations())
    all += each->name + each->version + " ";
  EXPECT_EQ(all, "a7 o o1.9.5 o1.10 o1.10.1 o2 ");
  ASSERT_NE(table.find_orchestration("o", ""), nullptr);
  EXPECT_EQ(table.find_orchestration("o", "")->version, "2");
}

TEST(HandlerTable, KeepsTheOptionsOfAnOrchestration) {
  HandlerTable table;
  table.add_orchestration("o", "", no_main(), {.deadlock_timeout = std::chrono::seconds(7)});
  EXPECT_EQ(table.find_orchestration("o", "")->options.deadlock_timeout, std::chrono::seconds(7));
  EXPECT_EQ(error_of([&] {
              table.add_orchestration("p", "", no_main(), {.deadlock_timeout = Duration(-1)});
            }),
            "deadlock_timeout of orchestration 'p' must be 0 us to 31536000000000 us, "
            "but it is -1 us");
  EXPECT_EQ(table.find_orchestration("p", ""), nullptr);
}

TEST(HandlerTable, AVersionIsFoundInEverySpelling) {
  HandlerTable table;
  table.add_orchestration("o", "1.2", no_main());
  ASSERT_NE(table.find_orchestration("o", "1.2.0"), nullptr);
  EXPECT_EQ(table.find_orchestration("o", "1.2.0")->version, "1.2");
  EXPECT_EQ(table.find_orchestration("o", "1.3"), nullptr);
  EXPECT_EQ(table.find_orchestration("o", "bad"), nullptr);
  EXPECT_EQ(table.find_orchestration("unknown", ""), nullptr);
  EXPECT_EQ(table.find_activity("o"), nullptr);
}

}  // namespace
}  // namespace perdure::detail
