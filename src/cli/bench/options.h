#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perdure::bench {

/// What `perdure bench` was asked for. Ranges are checked by whoever reads the command line. What
/// is unset is the workload's own choice, told in docs/bench.md.
struct Options {
  std::string provider;                   ///< URL of the store
  std::optional<std::string> durability;  ///< "full" or "relaxed"; unset: what the URL says
  std::chrono::duration<double> seconds{5};
  std::chrono::duration<double> warmup{1};
  std::optional<std::int64_t> in_flight;  ///< instances in the loop
  std::vector<int> threads{1, 8, 64};
  std::optional<std::int64_t> count;    ///< how many of what the workload counts
  std::optional<std::int64_t> running;  ///< handlers that run at a time
  std::optional<std::int64_t> held;     ///< handlers that the killed process held
  std::optional<std::int64_t> cancels;  ///< that change something, in a soak
  std::optional<std::int64_t> seed;     ///< of what is random in a soak; unset: another each time
  std::optional<std::int64_t> workers;  ///< activity slots
  std::chrono::milliseconds activity_time{0};
  int repeat = 1;
  std::chrono::milliseconds slow_fsync{0};
  int processes = 1;                ///< 2: the workers are in another one
  bool heartbeat_only = false;      ///< no kernel lock tells that a process has ended
  bool drop_notifications = false;  ///< nothing tells workers of their claims: they have to ask
  bool keep = false;
};

}  // namespace perdure::bench
