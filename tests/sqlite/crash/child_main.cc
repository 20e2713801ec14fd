#include <algorithm>
#include <csignal>
#include <future>
#include <iostream>
#include <sys/prctl.h>

#include "base/failpoint.h"
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

void operate(const std::string& name, const std::string& path, Durability durability) {
  const auto all = operations();
  const auto operation = std::ranges::find(all, name, &Operation::name);
  if (operation == all.end()) throw std::runtime_error("no such operation: " + name);
  World world(path, durability);
  const Run run = operation->prepare(world);
  expect_ok(failpoint::arm_from_environment(), "arm");
  expect_ok(run(world.store()), "run");
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
  if (what == "stop_while_writing") return stop_while_writing(path);
  if (what == "starve") return write_with_a_file_size_limit(path);
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
