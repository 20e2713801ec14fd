#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "runtime/run_attempt.h"
#include "tests/isolation/handlers.h"
#include "tests/isolation/seen_process.h"
#include "tests/support/temp_dir.h"

namespace perdure::test {

using namespace std::chrono_literals;
using Kind = WorkOutcome::Kind;

/// While it lives, processes of handlers have a main that does not call isolated_main: it does this
/// instead (see isolation_main.cc).
class OtherMain {
 public:
  explicit OtherMain(const std::string& what) { ::setenv(kOtherMain, what.c_str(), 1); }
  OtherMain(const OtherMain&) = delete;
  OtherMain& operator=(const OtherMain&) = delete;
  ~OtherMain() { ::unsetenv(kOtherMain); }
};

/// One attempt of an isolated handler, without a store and a runtime.
class OneAttempt : public ::testing::Test {
 protected:
  static WorkItem item_of(std::string_view activity, const std::string& input) {
    WorkItem item;
    item.lock = {Epoch{1}, 7};
    item.instance_id = "order";
    item.orchestration = "checkout";
    item.orchestration_version = "2.1";
    item.owner.execution = ExecutionNo{2};
    item.owner.event = EventId{5};
    item.work.name = std::string(activity);
    item.work.input = input;
    item.work.retry.max_attempts = 3;
    item.work.retry.first_delay = 3s;
    return item;
  }
  void make(WorkItem item, std::size_t max_payload_bytes = 1'000'000) {
    attempt_ = std::make_shared<runtime::Attempt>(
        std::move(item),
        runtime::Attempt::Surroundings{runtime::real_sleeper(),
                                       std::make_shared<runtime::DirectFirer>(),
                                       max_payload_bytes,
                                       {},
                                       "here:1#1",
                                       nullptr});
  }
  WorkOutcome run() {
    return runtime::run_registered(*registry_.table(), *attempt_, random_, 10s, &limits_);
  }
  WorkOutcome run(std::string_view activity, const std::string& input = "null") {
    make(item_of(activity, input));
    return run();
  }
  /// As JSON.
  static std::string quoted(const std::string& text) { return '"' + text + '"'; }

  support::TempDir dir_;
  Registry registry_ = isolated_handlers();
  runtime::ProcessLimits limits_;
  SeededRandom random_{1};
  std::shared_ptr<runtime::Attempt> attempt_;
};

}  // namespace perdure::test
