#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <perdure/health.h>

#include "base/guarded.h"
#include "runtime/slots.h"
#include "runtime/zombie_reaper.h"

namespace perdure::runtime {

/// What is known of the workers of a runtime, one for each queue. Outlives registrations.
/// Threading: any thread; the hook is called on the thread that changes a status, without a lock.
class WorkerBoard {
 public:
  using Hook = std::function<void(const WorkerHealth&)>;

  /// With nobody to tell, `hook` is empty.
  explicit WorkerBoard(Hook hook) : hook_(std::move(hook)) {}

  /// Before it is used by others.
  void add(const std::string& queue, int slots);

  /// The worker has come so far. At `kStarting` an exception of the hook goes through: the worker is
  /// not to start. At others it is logged.
  void move_to(const std::string& queue, WorkerStatus status);
  void move_all_to(WorkerStatus status);
  void fail(const std::string& queue, const std::string& why);
  void note_trouble(const std::string& queue, const std::string& what);
  /// Whose places those are that its handlers have now.
  void use(const std::string& queue, std::shared_ptr<const Slots> slots);

  std::shared_ptr<ZombieCount> zombies_of(const std::string& queue) const;
  std::vector<std::shared_ptr<ZombieCount>> all_zombies() const;
  std::vector<WorkerHealth> health() const;

 private:
  struct Entry {
    WorkerHealth health;
    std::shared_ptr<const Slots> slots;
    std::shared_ptr<ZombieCount> zombies = std::make_shared<ZombieCount>(0);

    WorkerHealth now() const;
  };
  using Entries = std::vector<Entry>;

  void change(const std::string& queue, const std::function<void(Entry&)>& how);
  void tell(const WorkerHealth& health) const noexcept;

  const Hook hook_;
  Guarded<Entries> entries_;
};

}  // namespace perdure::runtime
