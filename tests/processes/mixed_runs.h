#pragma once

#include <string>
#include <vector>

#include <perdure/client.h>

#include "tests/processes/histories.h"

namespace perdure::test {

/// Starts `count` runs, the sorts of mixed_code.h in turn, with the events that they wait for:
/// "run-0", "run-1", .. At most `delay_of_events` later the last event is there.
void start_mixed_runs(const Client& client, int count, Duration delay_of_events);

/// Waits for all of them; what is wrong with their results, one text for each run. `timeout` is
/// that of each wait.
std::vector<std::string> wrong_results(const Client& client, int count, Duration timeout);

/// What is wrong with what is stored of them after they have ended: lost, doubled or left over.
std::vector<std::string> wrong_histories(Provider& store, int count);

}  // namespace perdure::test
