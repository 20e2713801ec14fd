#include <algorithm>
#include <csignal>
#include <future>
#include <iostream>
#include <optional>
#include <sys/prctl.h>

#include "base/failpoint.h"
#include "provider/sqlite/migrations.h"
#include "provider/sqlite/schema.h"
#include "provider/sqlite/write_connection.h"
#include "tests/sqlite/crash/callers.h"
#include "tests/sqlite/crash/great_writes.h"
#include "tests/sqlite/crash/operations.h"
#include "tests/sqlite/crash/starved.h"

/// The process that is killed: brings a store into a state, arms the points that its environment
/// names, and does one thing. It returns 0 when it lives to see the answer.
namespace perdure::sqlite::crash {

namespace {

void make_store(const std::string& path, Durability durability) {
  expect_ok(failpoint::arm_from_environment(), "arm");
  World(path, durability);
}

/// Makes a store as the first version made it, with the answer of a call in it, and opens it.
void upgrade_store(const std::string& path, Durability durability) {
  {
    const auto db = open_for_writing(path, durability);
    db->exec("PRAGMA journal_mode = WAL");
    expect_ok(migrate(*db, schema_migrations().first(1), TimePoint{}), "migrate");
    db->exec("INSERT INTO requests (request_id, operation, answer, at) VALUES ('old', 1, 1, 0)");
  }
  expect_ok(failpoint::arm_from_environment(), "arm");
  World(path, durability);
}

void operate(const std::string& name, const std::string& path, Durability durability) {
  const auto all = operations();
  const auto operation = std::ranges::find(all, name, &Operation::name);
  if (operation == all.end()) throw std::runtime_error("no such operation: " + name);
  World world(path, durability);
  const Run run = operation->prepare(world);
  expect_ok(failpoint::arm_from_environment(), "arm");
  expect_ok(run(world.store()), "run");
}

/// Several callers in one group. The answer of `killer` kills.
void write_group(const std::string& path, Durability durability, std::size_t killer) {
  World world(path, durability, Driver::kCalls);
  const Callers callers(world);
  const AnswerFile answers(path);
  expect_ok(failpoint::arm_from_environment(), "arm");
  callers.call_together(world.store(), [&](std::size_t caller, const Status& answer) {
    expect_ok(answer, "call");
    if (caller == killer) ::raise(SIGKILL);
    answers.add(caller);
  });
}

/// The number behind `prefix`, if `what` begins so.
std::optional<int> number_behind(const std::string& what, const std::string& prefix) {
  if (!what.starts_with(prefix)) return std::nullopt;
  return std::stoi(what.substr(prefix.size()));
}

/// Stops inside a write transaction; continued, it commits.
void stop_while_writing(const std::string& path) {
  World world(path, Durability::kFull);
  failpoint::arm("sqlite.entry.after", {.kind = failpoint::Action::Kind::kPause});
  // Shared: the writer may still be inside it when the answer is there.
  const auto answer = std::make_shared<std::promise<Status>>();
  world.store().submit(
      start_request("stopped"),
      [answer](Result<OrchestrationStarted> started) { answer->set_value(status_of(started)); },
      {});
  if (!failpoint::wait_until_paused("sqlite.entry.after", std::chrono::minutes(1))) {
    throw std::runtime_error("the write does not get to its point");
  }
  ::raise(SIGSTOP);
  failpoint::disarm_all();
  expect_ok(answer->get_future().get(), "start");
}

void run(const std::string& what, const std::string& path, const std::string& how) {
  if (how != "full" && how != "relaxed") throw std::runtime_error("no such durability: " + how);
  const Durability durability = how == "full" ? Durability::kFull : Durability::kRelaxed;
  if (what == "make_store") return make_store(path, durability);
  if (what == "upgrade_store") return upgrade_store(path, durability);
  if (what == "stop_while_writing") return stop_while_writing(path);
  if (what == "starve") return write_with_a_file_size_limit(path);
  if (what == "group") return write_group(path, durability, Callers::count());
  if (const auto killer = number_behind(what, "group_killed_by_")) {
    return write_group(path, durability, static_cast<std::size_t>(*killer));
  }
  if (what == "great_writes") return write_great_runs(path, durability, 0);
  if (what == "great_writes_with_reader") return write_great_runs(path, durability, 0, true);
  if (const auto change = number_behind(what, "great_writes_dying_at_")) {
    return write_great_runs(path, durability, *change);
  }
  operate(what, path, durability);
}

}  // namespace
}  // namespace perdure::sqlite::crash

int main(int argc, char** argv) {
  // A test that dies takes its children along.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 4) {
    std::cerr << "usage: " << argv[0] << " WHAT PATH full|relaxed\n";
    return 2;
  }
  try {
    perdure::sqlite::crash::run(argv[1], argv[2], argv[3]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << argv[1] << ": " << error.what() << '\n';
    return 1;
  }
}
