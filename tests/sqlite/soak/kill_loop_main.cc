#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/random.h"
#include "tests/sqlite/crash/child_process.h"
#include "tests/sqlite/crash/store_rows.h"
#include "tests/sqlite/soak/checker.h"
#include "tests/support/temp_dir.h"

/// Kills a process that writes to a store, again and again at random moments, while another one
/// uses the same store. After each kill the store is held against what the callers knew. A store is
/// used for some kills; the last one hits both processes, so that nobody is left who knows the
/// state of the log. Then all runs are brought to their end.
///
/// Returns 0 when no promise was broken and at least half of the kills hit a write in flight.
namespace perdure::sqlite::soak {
namespace {

using namespace std::chrono_literals;
using crash::ChildProcess;

constexpr int kKillsPerStore = 25;
constexpr auto kPatience = 2min;

struct Totals {
  int stores = 0;
  int kills = 0;
  int in_flight = 0;       ///< a write was submitted and not answered
  int in_transaction = 0;  ///< the write lock was held
  std::int64_t acknowledged = 0;
  std::int64_t unanswered_landed = 0;  ///< turns and results whose callers never knew
  std::int64_t unanswered_absent = 0;
  int checks = 0;
  std::int64_t violations = 0;
};

class KillLoop {
 public:
  KillLoop(std::string program, std::uint64_t seed) : program_(std::move(program)), random_(seed) {}

  void run(std::chrono::seconds time) {
    const auto end = steady_now() + time;
    while (steady_now() < end && totals_.violations == 0) {
      use_a_store(end);
      ++totals_.stores;
      report("so far");
    }
  }

  /// As the last line that is printed.
  void report(const char* when) const {
    std::cout << "kill loop " << when << ": stores=" << totals_.stores << " kills=" << totals_.kills
              << " in_flight=" << totals_.in_flight << " in_transaction=" << totals_.in_transaction
              << " acknowledged=" << totals_.acknowledged
              << " unanswered_landed=" << totals_.unanswered_landed
              << " unanswered_absent=" << totals_.unanswered_absent << " checks=" << totals_.checks
              << " violations=" << totals_.violations << std::endl;
  }

  bool passed() const {
    return totals_.violations == 0 && totals_.kills > 0 && 2 * totals_.in_flight >= totals_.kills;
  }

 private:
  using SteadyTime = std::chrono::steady_clock::time_point;

  struct Place {
    std::string store;
    std::string ledger;
    std::string durability;
  };

  void use_a_store(SteadyTime end) {
    const support::TempDir dir;
    const Place place{.store = dir.file("store.db"),
                      .ledger = dir.file("ledger"),
                      .durability = totals_.stores % 2 == 0 ? "full" : "relaxed"};
    Ledger ledger(place.ledger);
    auto companion = spawn("companion", place);
    if (!wait_until_ready(ledger, Side::kCompanion))
      return violation("the companion does not open");
    for (int kill = 1; totals_.violations == 0; ++kill) {
      const bool last = kill == kKillsPerStore || ledger.full() || steady_now() >= end;
      kill_a_victim(place, ledger, last ? companion.get() : nullptr);
      look(place, ledger);
      if (last) break;
    }
    companion.reset();
    if (totals_.violations == 0) finish(place, ledger);
  }

  std::unique_ptr<ChildProcess> spawn(const std::string& role, const Place& place) {
    return std::make_unique<ChildProcess>(program_,
                                          std::vector{role,
                                                      place.store,
                                                      place.ledger,
                                                      std::to_string(random_.next() >> 1U),
                                                      place.durability},
                                          "");
  }

  /// At any time of its life; most often when it has begun to write.
  void kill_a_victim(const Place& place, Ledger& ledger, ChildProcess* companion) {
    Ledger::Standing& standing = ledger.standing(Side::kVictim);
    standing.ready = 0;
    standing.unanswered = 0;
    standing.writing = 0;
    auto victim = spawn("victim", place);
    const bool opening = random_.next() % 10 == 0;
    if (!opening && !wait_until_ready(ledger, Side::kVictim)) {
      return violation("the victim does not open");
    }
    std::this_thread::sleep_for(
        std::chrono::microseconds(random_.next() % (opening ? 30'000 : 400'000)));
    victim->kill();
    expect_killed(*victim, "victim");
    ++totals_.kills;
    if (standing.unanswered > 0) ++totals_.in_flight;
    if (standing.writing > 0) ++totals_.in_transaction;
    if (companion == nullptr) return;
    companion->kill();
    expect_killed(*companion, "companion");
  }

  void expect_killed(ChildProcess& process, const std::string& role) {
    const std::string end = crash::describe_end(process.wait_for_end());
    if (end != "was ended by SIGKILL") violation("the " + role + " " + end);
  }

  bool wait_until_ready(Ledger& ledger, Side side) {
    const auto deadline = steady_now() + kPatience;
    while (ledger.standing(side).ready == 0) {
      if (steady_now() > deadline) return false;
      std::this_thread::sleep_for(1ms);
    }
    return true;
  }

  Findings look(const Place& place, const Ledger& ledger) {
    ++totals_.checks;
    const Findings found = check_store(place.store, ledger);
    for (const std::string& one : found.violations) violation(one);
    const std::string integrity = crash::integrity(place.store);
    if (integrity != "ok") violation("integrity_check: " + integrity);
    return found;
  }

  void finish(const Place& place, const Ledger& ledger) {
    auto finisher = spawn("finisher", place);
    const std::string end = crash::describe_end(finisher->wait_for_end());
    if (end != "returned 0") violation("the finisher " + end);
    const Findings found = look(place, ledger);
    totals_.acknowledged += found.acknowledged;
    totals_.unanswered_landed += found.unanswered_landed;
    totals_.unanswered_absent += found.unanswered_absent;
    for (const std::string& one : crash::violations_at_the_end(place.store)) violation(one);
  }

  void violation(const std::string& what) {
    ++totals_.violations;
    std::cout << "violation: after " << totals_.kills << " kills: " << what << std::endl;
  }

  const std::string program_;
  SeededRandom random_;
  Totals totals_;
};

std::string beside(const std::string& program, const std::string& name) {
  return (std::filesystem::path(program).parent_path() / name).string();
}

}  // namespace
}  // namespace perdure::sqlite::soak

int main(int argc, char** argv) {
  using namespace perdure;
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: " << argv[0] << " SECONDS [SEED]\n";
    return 2;
  }
  try {
    const std::chrono::seconds time(std::stoll(argv[1]));
    const std::uint64_t seed = argc == 3 ? std::stoull(argv[2]) : SystemRandom().next();
    std::cout << "kill loop of " << time.count() << " s, seed " << seed << std::endl;
    sqlite::soak::KillLoop loop(sqlite::soak::beside(argv[0], "perdure_kill_loop_participant"),
                                seed);
    loop.run(time);
    loop.report(loop.passed() ? "passed" : "FAILED");
    return loop.passed() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << '\n';
    return 1;
  }
}
