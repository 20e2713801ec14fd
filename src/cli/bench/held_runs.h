#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace perdure {
class ActivityContext;
class Client;
class Registry;
}  // namespace perdure

/// Runs with one activity each, whose handler holds its thread for as long as it likes: for
/// workloads that measure what happens to running handlers.
namespace perdure::bench {

/// Gets the number of its run and answers it.
using HeldHandler = std::function<std::int64_t(ActivityContext&, std::int64_t)>;

/// The code, with this handler. Called on many threads.
Registry held_registry(HeldHandler handler);
/// The two halves of it, for processes that share the work.
Registry held_orchestration();
Registry held_activity(HeldHandler handler);

/// Starts those with the numbers from `begin` to `end` - 1, from many threads.
void start_held(const Client& client, std::int64_t begin, std::int64_t end);

std::string held_id(std::int64_t number);

}  // namespace perdure::bench
