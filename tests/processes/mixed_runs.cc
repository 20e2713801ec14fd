#include "tests/processes/mixed_runs.h"

#include <array>
#include <exception>
#include <functional>

#include "tests/processes/mixed_code.h"

namespace perdure::test {

namespace {

/// One sort: how it is called, what it gives, what one of its executions records.
struct Sort {
  Orchestration<int(int)> orchestration;
  int (*result)(int input);
  std::int64_t activities_completed;
};

constexpr int kFirstNudge = 10;
constexpr int kSecondNudge = 20;

constexpr std::array kSorts = {
    Sort{chain, [](int in) { return in + 4; }, 4},
    Sort{stubborn, [](int in) { return in + 2; }, 2},
    Sort{sleepy, [](int in) { return in + 1; }, 1},
    Sort{family, [](int in) { return 3 * (in + 4) + 3; }, 0},
    Sort{listener, [](int in) { return in + kFirstNudge + kSecondNudge + 1; }, 1},
    Sort{racer, [](int in) { return in + 2; }, 0},
    Sort{undoer, [](int) { return 0; }, 1},
    Sort{looper, [](int in) { return in + kLives; }, 1},
};

const Sort& sort_of(int number) {
  return kSorts[static_cast<std::size_t>(number) % kSorts.size()];
}

std::string id_of(int number) {
  return "run-" + std::to_string(number);
}

bool is(const Sort& sort, const Orchestration<int(int)>& orchestration) {
  return sort.orchestration.name() == orchestration.name();
}

std::string wrong_result(const Client& client, int number, Duration timeout) {
  const Sort& sort = sort_of(number);
  const std::string where = id_of(number) + " (" + std::string(sort.orchestration.name()) + "): ";
  const Outcome<int> outcome = client.find<int>(id_of(number)).outcome(timeout);
  if (is(sort, undoer)) {
    return outcome.failure().type == "refused"
               ? ""
               : where + "has not failed as it should: " + outcome.failure().type;
  }
  if (!outcome.ok()) {
    return where + outcome.failure().type + " " + outcome.failure().message + outcome.reason();
  }
  if (outcome.value() == sort.result(number)) return {};
  return where + "gave " + std::to_string(outcome.value()) + ", not " +
         std::to_string(sort.result(number));
}

std::string wrong_execution(const StoredExecution& execution) {
  if (const std::string found = violation_in(execution); !found.empty()) return found;
  for (const Sort& sort : kSorts) {
    if (sort.orchestration.name() != execution.name) continue;
    const std::int64_t completed = execution.count(EventKind::kActivityCompleted);
    const std::int64_t undone = execution.count(EventKind::kUndoCompleted);
    if (completed == sort.activities_completed && undone == (is(sort, undoer) ? 1 : 0)) return {};
    return "run '" + execution.id + "': " + std::to_string(completed) + " calls completed and " +
           std::to_string(undone) + " undone";
  }
  return {};
}

/// Executions that there should be: lives of loopers and children of families included.
std::size_t expected_executions(int count) {
  std::size_t expected = 0;
  for (int i = 0; i < count; ++i) {
    const Sort& sort = sort_of(i);
    expected += is(sort, family) ? 4 : is(sort, looper) ? kLives : 1;
  }
  return expected;
}

}  // namespace

void start_mixed_runs(const Client& client, int count, Duration delay_of_events) {
  for (int i = 0; i < count; ++i) {
    (void)client.start(sort_of(i).orchestration, id_of(i), i);
    if (!is(sort_of(i), listener)) continue;
    client.raise_event(id_of(i), nudge, kFirstNudge);
    client.raise_event(
        id_of(i), nudge, kSecondNudge, {.delay = delay_of_events * (i + 1) / count});
  }
}

std::vector<std::string> wrong_results(const Client& client, int count, Duration timeout) {
  std::vector<std::string> wrong;
  for (int i = 0; i < count; ++i) {
    try {
      if (const auto found = wrong_result(client, i, timeout); !found.empty()) {
        wrong.push_back(found);
      }
    } catch (const std::exception& error) {
      wrong.push_back(id_of(i) + ": " + error.what());
    }
  }
  return wrong;
}

std::vector<std::string> wrong_histories(Provider& store, int count) {
  std::vector<std::string> wrong;
  const std::vector<StoredExecution> all = read_all(store);
  for (const StoredExecution& each : all) {
    if (const auto found = wrong_execution(each); !found.empty()) wrong.push_back(found);
  }
  if (all.size() != expected_executions(count)) {
    wrong.push_back(std::to_string(all.size()) + " executions, not " +
                    std::to_string(expected_executions(count)));
  }
  if (const auto left = left_in_queues(store); !left.empty()) wrong.push_back("left over: " + left);
  return wrong;
}

}  // namespace perdure::test
