#include "cli/bench/soak_batch.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "cli/bench/in_threads.h"

namespace perdure::bench {

namespace {

using std::chrono::milliseconds;

constexpr int kHands = 16;
constexpr auto kSettledLook = milliseconds(5);
constexpr std::uint64_t kDeadlines = 10;  ///< one run of so many has one
constexpr std::uint64_t kLongestDeadline = 100;

const std::vector<ExecutionStatus> kLive{ExecutionStatus::kRunning,
                                         ExecutionStatus::kCompleting,
                                         ExecutionStatus::kFailing,
                                         ExecutionStatus::kCanceling};

}  // namespace

SoakBatch::SoakBatch(Parts parts, std::string prefix, std::size_t trees)
    : parts_(parts), prefix_(std::move(prefix)), trees_(trees) {}

void SoakBatch::act(const std::vector<SoakDeed>& plan) {
  const auto begin = steady_now();
  in_threads(kHands, 0, static_cast<std::int64_t>(plan.size()), [&](std::int64_t number) {
    const SoakDeed& deed = plan[static_cast<std::size_t>(number)];
    std::this_thread::sleep_until(begin + deed.at);
    try {
      act(deed);
    } catch (const NotFound&) {
      // Not started yet, or deleted.
    }
  });
}

void SoakBatch::act(const SoakDeed& deed) {
  switch (deed.kind) {
    case SoakDeed::Kind::kStart:
      return start(deed);
    case SoakDeed::Kind::kCancelRoot:
    case SoakDeed::Kind::kCancelMember:
      return cancel(deed);
    case SoakDeed::Kind::kDelete:
      return remove(deed);
  }
}

void SoakBatch::start(const SoakDeed& deed) {
  StartOptions options;
  if (deed.luck % kDeadlines == 0) {
    options.run_timeout = milliseconds(1 + deed.luck / kDeadlines % kLongestDeadline);
  }
  parts_.client.start(kSoakNode, id_of(deed.tree), soak_input(0, deed.luck), options);
  trees_.with([&](std::vector<Tree>& trees) { trees[deed.tree].started = true; });
}

void SoakBatch::cancel(const SoakDeed& deed) {
  std::string id = id_of(deed.tree);
  if (deed.kind == SoakDeed::Kind::kCancelMember) {
    const RunTree tree = parts_.client.tree(id);
    id = tree.nodes[deed.luck % tree.nodes.size()].run.id;
  }
  if (!parts_.budget.take()) return;
  bool changed = false;
  try {
    changed = parts_.client.cancel(id, "soak").changed;
  } catch (...) {
    parts_.budget.give_back();
    throw;
  }
  if (!changed) return parts_.budget.give_back();
  trees_.with([&](std::vector<Tree>& trees) { trees[deed.tree].canceled.insert(id); });
  check_descendants(id);
}

/// Right after the call has returned: what it answered holds already.
void SoakBatch::check_descendants(const std::string& id) {
  TreeQuery query;
  query.id = id;
  const auto tree = parts_.bench.store()->get_tree(query);
  if (!tree.ok()) {
    if (tree.code() == ErrorCode::kNotFound) return;
    throw Unavailable(tree.error().message);
  }
  for (const std::string& runnable : runnable_below(*tree)) {
    violated("run '" + runnable + "' can still run, though '" + id + "' above it was canceled");
  }
}

void SoakBatch::remove(const SoakDeed& deed) {
  parts_.client.remove(id_of(deed.tree), {.force = true});
  trees_.with([&](std::vector<Tree>& trees) { trees[deed.tree].deleted = true; });
}

Status SoakBatch::check(std::chrono::nanoseconds at_most) {
  PERDURE_RETURN_IF_ERROR(wait_until_settled(at_most));
  const auto trees = trees_.with([](std::vector<Tree>& all) { return all; });
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!trees[i].started) continue;
    PERDURE_RETURN_IF_ERROR(trees[i].deleted ? check_deleted(id_of(i))
                                             : check_kept(id_of(i), trees[i]));
  }
  for (std::int64_t lost = parts_.handlers.inside; lost > 0; --lost) {
    violated("a handler has not ended: its thread is lost");
  }
  return {};
}

Result<bool> SoakBatch::is_settled() {
  if (parts_.handlers.inside > 0) return false;
  Provider& store = *parts_.bench.store();
  PERDURE_ASSIGN_OR_RETURN(const std::int64_t work, work_in_queues(store));
  if (work > 0) return false;
  PERDURE_ASSIGN_OR_RETURN(const auto live, ids_with_prefix(store, prefix_, kLive));
  if (!live.empty()) return false;
  const auto trees = trees_.with([](std::vector<Tree>& all) { return all; });
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (!trees[i].deleted) continue;
    PERDURE_ASSIGN_OR_RETURN(const auto left, left_of_deleted(store, id_of(i)));
    if (!left.empty()) return false;
  }
  return true;
}

/// Who has not settled in time is found by the checks that follow.
Status SoakBatch::wait_until_settled(std::chrono::nanoseconds at_most) {
  const auto until = steady_now() + at_most;
  while (steady_now() < until) {
    PERDURE_ASSIGN_OR_RETURN(const bool settled, is_settled());
    if (settled) break;
    std::this_thread::sleep_for(kSettledLook);
  }
  return {};
}

Status SoakBatch::check_deleted(const std::string& root) {
  PERDURE_ASSIGN_OR_RETURN(const auto left, left_of_deleted(*parts_.bench.store(), root));
  for (const std::string& id : left) violated("run '" + id + "' is left of a deleted tree");
  return {};
}

Status SoakBatch::check_kept(const std::string& root, const Tree& tree) {
  const auto problems = check_tree(*parts_.bench.store(), root, tree.canceled, parts_.counts);
  if (!problems.ok()) {
    if (problems.code() != ErrorCode::kNotFound) return problems.error();
    violated("run '" + root + "' is gone and nobody has deleted it");
    return {};
  }
  for (const std::string& problem : *problems) violated(problem);
  if (problems->empty()) parts_.client.remove(root);
  return {};
}

std::int64_t SoakBatch::deleted() const {
  return trees_.with([](const std::vector<Tree>& trees) {
    return static_cast<std::int64_t>(
        std::count_if(trees.begin(), trees.end(), [](const Tree& tree) { return tree.deleted; }));
  });
}

void SoakBatch::violated(const std::string& what) {
  const std::lock_guard lock(report_);
  parts_.bench.report().fail(what);
}

}  // namespace perdure::bench
