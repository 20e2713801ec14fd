#include "runtime/turn_to_commit.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <perdure/version.h>

#include "model/version.h"

namespace perdure::runtime {

namespace {

int sum(int call, int run) {
  return static_cast<int>(std::clamp<std::int64_t>(
      std::int64_t{call} + run, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

}  // namespace

TurnCommit to_commit(const OrchestrationItem& item,
                     const std::string& version,
                     replay::TurnDecisions decisions,
                     const DispatcherOptions& options) {
  TurnCommit commit;
  commit.instance = item.instance;
  commit.execution = item.execution;
  commit.lock = item.lock;
  commit.replies = std::move(decisions.replies);
  if (is_terminal(item.status)) {  // queries to an execution that has ended: the rest is history
    commit.status = item.status;
    return commit;
  }
  commit.events = std::move(decisions.events);
  commit.status = decisions.status;
  commit.output = std::move(decisions.output);
  commit.failure = std::move(decisions.failure);
  commit.custom_status = std::move(decisions.custom_status);
  // One that was asked for stays as it was written, whatever form the code is registered with.
  if (item.version.empty() && !version.empty()) commit.version = stored_version(version);
  commit.engine_version = std::string(kVersionString);
  commit.work = std::move(decisions.work);
  commit.canceled_work = std::move(decisions.canceled_work);
  commit.timers = std::move(decisions.timers);
  commit.canceled_timers = std::move(decisions.canceled_timers);
  commit.children = std::move(decisions.children);
  commit.canceled_children = std::move(decisions.canceled_children);
  commit.cleanup_timeout = options.cleanup_timeout;
  commit.next = std::move(decisions.next);
  commit.drain_at = decisions.drain_at;
  commit.kept_messages = std::move(decisions.kept_messages);
  for (NewWork& work : commit.work) work.priority = sum(work.priority, item.priority);
  for (NewChild& child : commit.children) {
    if (!child.detached) child.priority = item.priority;
  }
  return commit;
}

}  // namespace perdure::runtime
