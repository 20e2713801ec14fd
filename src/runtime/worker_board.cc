#include "runtime/worker_board.h"

#include <exception>
#include <utility>

#include "base/log.h"

namespace perdure {

std::string_view to_string(WorkerStatus status) {
  switch (status) {
    case WorkerStatus::kCreated:
      return "created";
    case WorkerStatus::kStarting:
      return "starting";
    case WorkerStatus::kReady:
      return "ready";
    case WorkerStatus::kStopping:
      return "stopping";
    case WorkerStatus::kStopped:
      return "stopped";
    case WorkerStatus::kFailed:
      return "failed";
  }
  return "unknown";
}

}  // namespace perdure

namespace perdure::runtime {

WorkerHealth WorkerBoard::Entry::now() const {
  WorkerHealth now = health;
  now.running = slots ? static_cast<int>(slots->taken()) : 0;
  now.zombies = *zombies;
  return now;
}

void WorkerBoard::add(const std::string& queue, int slots) {
  entries_.with([&](Entries& entries) {
    entries.emplace_back();
    entries.back().health.queue = queue;
    entries.back().health.slots = slots;
  });
}

void WorkerBoard::change(const std::string& queue, const std::function<void(Entry&)>& how) {
  entries_.with([&](Entries& entries) {
    for (Entry& each : entries) {
      if (each.health.queue == queue) how(each);
    }
  });
}

void WorkerBoard::move_to(const std::string& queue, WorkerStatus status) {
  WorkerHealth now;
  bool moved = false;
  change(queue, [&](Entry& entry) {
    moved = entry.health.status != status;
    entry.health.status = status;
    now = entry.now();
  });
  if (!moved || !hook_) return;
  if (status == WorkerStatus::kStarting) return hook_(now);
  tell(now);
}

/// One that has failed stays so, until it is started again.
void WorkerBoard::move_all_to(WorkerStatus status) {
  for (const WorkerHealth& each : health()) {
    if (each.status != WorkerStatus::kFailed) move_to(each.queue, status);
  }
}

void WorkerBoard::fail(const std::string& queue, const std::string& why) {
  note_trouble(queue, why);
  move_to(queue, WorkerStatus::kFailed);
  log::error("a worker cannot start: its queue is not served, the others are",
             {{"queue", queue}, {"error", why}});
}

void WorkerBoard::note_trouble(const std::string& queue, const std::string& what) {
  change(queue, [&](Entry& entry) { entry.health.last_error = what; });
}

void WorkerBoard::use(const std::string& queue, std::shared_ptr<const Slots> slots) {
  change(queue, [&](Entry& entry) { entry.slots = std::move(slots); });
}

void WorkerBoard::tell(const WorkerHealth& health) const noexcept {
  try {
    hook_(health);
  } catch (const std::exception& error) {
    log::error("the hook on_worker_status has thrown", {{"error", error.what()}});
  } catch (...) {
    log::error("the hook on_worker_status has thrown");
  }
}

std::shared_ptr<ZombieCount> WorkerBoard::zombies_of(const std::string& queue) const {
  return entries_.with([&](const Entries& entries) {
    for (const Entry& each : entries) {
      if (each.health.queue == queue) return each.zombies;
    }
    return std::make_shared<ZombieCount>(0);
  });
}

std::vector<std::shared_ptr<ZombieCount>> WorkerBoard::all_zombies() const {
  return entries_.with([](const Entries& entries) {
    std::vector<std::shared_ptr<ZombieCount>> all;
    for (const Entry& each : entries) all.push_back(each.zombies);
    return all;
  });
}

std::vector<WorkerHealth> WorkerBoard::health() const {
  return entries_.with([](const Entries& entries) {
    std::vector<WorkerHealth> all;
    for (const Entry& each : entries) all.push_back(each.now());
    return all;
  });
}

}  // namespace perdure::runtime
