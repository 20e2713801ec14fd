#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include <perdure/client.h>

#include "cli/demo/interrupts.h"
#include "cli/demo/narrator.h"
#include "cli/demo/orders.h"
#include "cli/demo/report.h"
#include "cli/demo/worker_process.h"

namespace perdure::demo {

/// Throws std::runtime_error unless what the demo is to show was seen.
void expect(bool seen, const std::string& otherwise);

/// A report, from whom and when it came.
struct Heard {
  Report report;
  pid_t worker = 0;
  Narrator::Clock::time_point at{};
};

/// What the acts of the demo play with: a store with a client, at most one worker process, and the
/// narrator, who tells of everything that the worker reports. Waiting throws as
/// `WorkerProcess::next` does. One thread.
class Stage {
 public:
  Stage(Narrator& narrator,
        const Interrupts& interrupts,
        std::string url,
        std::filesystem::path log);

  Narrator& narrator() { return narrator_; }
  const Client& client() const { return client_; }
  /// "worker 4711", the one that runs or ran last.
  const std::string& worker() const { return name_; }

  void start_order(const Order& order);
  void start_worker();
  /// With SIGKILL, in the midst of a step: std::runtime_error when that was done before the signal.
  /// Answers when.
  Narrator::Clock::time_point kill_worker(const std::string& order, std::string_view step);
  void stop_worker();

  /// Until the worker reports that of a step, `done` parts or more.
  Heard until(Report::Kind kind, const std::string& order, std::string_view step, int done = 0);
  /// Until the run has ended; told to the viewer.
  RunStatus end_of(const std::string& order);
  /// All reports of that kind so far.
  std::vector<Heard> heard(Report::Kind kind,
                           const std::string& order,
                           std::string_view step) const;

 private:
  Heard next();
  const Heard& keep(Report report);
  void narrate(const Heard& heard);

  Narrator& narrator_;
  const Interrupts& interrupts_;
  const std::string url_;
  const std::filesystem::path log_;
  const Client client_;
  std::unique_ptr<WorkerProcess> worker_;
  std::string name_;
  std::vector<Heard> all_;
};

}  // namespace perdure::demo
