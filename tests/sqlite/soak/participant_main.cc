#include <csignal>
#include <iostream>
#include <sys/prctl.h>

#include "base/clock.h"
#include "provider/sqlite/connection.h"
#include "tests/sqlite/soak/checker.h"
#include "tests/sqlite/soak/participant.h"
#include "tests/sqlite/soak/write_lock_watch.h"

/// A process of the kill loop. The victim and the companion run until they are killed; the finisher
/// brings every run to its end and returns 0.
namespace perdure::sqlite::soak {

namespace {

using namespace std::chrono_literals;

[[noreturn]] void run_until_killed() {
  for (;;) std::this_thread::sleep_for(1h);
}

[[noreturn]] void be_victim(Participant& participant) {
  participant.run_workers(2);
  participant.run_housekeeping();
  participant.run_copies();
  participant.carry_on_for({Side::kVictim});
  participant.run_clients(4, 0ms);
  run_until_killed();
}

/// Works beside the victim and looks at the store all along; returns only with violations.
void be_companion(Participant& participant, const std::string& store, const Ledger& ledger) {
  participant.run_workers(1);
  participant.run_housekeeping();
  participant.run_clients(1, 5ms);
  std::vector<std::string> violations;
  while (violations.empty()) {
    violations = check_store(store, ledger).violations;
    std::this_thread::sleep_for(50ms);
  }
  for (const std::string& violation : violations) {
    std::cerr << "violation: seen by the companion: " << violation << '\n';
  }
}

bool at_rest(const std::string& store) {
  auto db = Connection::open(store, Access::kReadOnly);
  db->set_busy_timeout(30s);
  Query row = db->query_text(
      "SELECT (SELECT count(*) FROM executions WHERE status < 5) + "
      "(SELECT count(*) FROM worker_queue) + (SELECT count(*) FROM orchestrator_queue)");
  return row.next() && row.integer(0) == 0;
}

bool finish(Participant& participant, const std::string& store) {
  participant.run_workers(2);
  participant.run_housekeeping();
  participant.carry_on_for({Side::kVictim, Side::kCompanion});
  const auto deadline = steady_now() + 5min;
  while (!at_rest(store)) {
    if (steady_now() > deadline) {
      std::cerr << "violation: the store does not come to rest\n";
      return false;
    }
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

int run(const std::string& role, Participant::Options options, const std::string& ledger_path) {
  Ledger ledger(ledger_path);
  Ledger::Standing& standing = ledger.standing(options.side);
  const WriteLockWatch watch(standing.writing);
  const std::string store = options.store;
  Participant participant(std::move(options), ledger);
  standing.ready = 1;
  if (role == "victim") be_victim(participant);
  if (role == "finisher") return finish(participant, store) ? 0 : 1;
  be_companion(participant, store, ledger);
  std::_Exit(1);
}

}  // namespace
}  // namespace perdure::sqlite::soak

int main(int argc, char** argv) {
  using namespace perdure::sqlite;
  // A loop that dies takes its processes along.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc != 6) {
    std::cerr << "usage: " << argv[0]
              << " victim|companion|finisher STORE LEDGER SEED DURABILITY\n";
    return 2;
  }
  const std::string role = argv[1];
  try {
    soak::Participant::Options options;
    options.side = role == "victim" ? soak::Side::kVictim : soak::Side::kCompanion;
    options.store = argv[2];
    options.durability = std::string(argv[5]) == "full" ? Durability::kFull : Durability::kRelaxed;
    options.seed = std::stoull(argv[4]);
    options.take_over_all = role == "finisher";
    return soak::run(role, std::move(options), argv[3]);
  } catch (const std::exception& error) {
    std::cerr << "violation: " << role << ": " << error.what() << '\n';
    return 1;
  }
}
