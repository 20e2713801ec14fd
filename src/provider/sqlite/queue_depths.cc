#include <algorithm>
#include <map>

#include "provider/sqlite/management.h"

namespace perdure::sqlite {

namespace {

/// Collects by queue and name, in their order.
class Depths {
 public:
  QueueDepth& queue(const std::string& name) { return queues_[name].depth; }
  WorkDepth& work(const Query& row) { return queues_[row.text(0)].work[row.text(1)]; }

  std::vector<QueueDepth> take() {
    std::vector<QueueDepth> result;
    for (auto& [name, entry] : queues_) {
      entry.depth.queue = name;
      for (auto& [work_name, depth] : entry.work) {
        depth.name = work_name;
        entry.depth.work.push_back(std::move(depth));
      }
      result.push_back(std::move(entry.depth));
    }
    return result;
  }

 private:
  struct Entry {
    QueueDepth depth;
    std::map<std::string, WorkDepth> work;
  };
  std::map<std::string, Entry> queues_;
};

void lower(std::optional<TimePoint>& oldest, TimePoint at) {
  oldest = oldest ? std::min(*oldest, at) : at;
}

void count_instances(Connection& db, TimePoint now, Depths& depths) {
  {
    Query row = db.query(Sql::kDepthInstances, now);
    while (row.next()) {
      QueueDepth& depth = depths.queue(row.text(0));
      depth.instances_ready = row.integer(1);
      depth.instances_delayed = row.integer(2);
      if (depth.instances_ready > 0) depth.oldest_instance = row.time(3);
    }
  }
  Query row = db.query(Sql::kDepthLocked);
  while (row.next()) depths.queue(row.text(0)).instances_locked = row.integer(1);
}

void count_ready_work(Connection& db, Sql statement, Depths& depths) {
  Query row = db.query(statement);
  while (row.next()) {
    WorkDepth& depth = depths.work(row);
    depth.ready += row.integer(2);
    Query oldest = db.query(Sql::kWorkVisibleAt, row.integer(3));
    if (oldest.next() && oldest.is_integer(0)) lower(depth.oldest_ready, oldest.time(0));
  }
}

/// A delayed row that is due is as good as ready: the next fetch takes it.
void count_delayed_work(Connection& db, TimePoint now, Depths& depths) {
  Query row = db.query(Sql::kDepthDelayed, now);
  while (row.next()) {
    WorkDepth& depth = depths.work(row);
    depth.ready += row.integer(2);
    depth.delayed = row.integer(3);
    if (row.integer(2) > 0) lower(depth.oldest_ready, row.time(4));
  }
}

}  // namespace

QueueDepths queue_depths(Connection& db, TimePoint now) {
  Depths depths;
  count_instances(db, now, depths);
  count_ready_work(db, Sql::kDepthReady, depths);
  count_ready_work(db, Sql::kDepthSuspects, depths);
  count_delayed_work(db, now, depths);
  {
    Query row = db.query(Sql::kDepthClaimed);
    while (row.next()) depths.work(row).claimed = row.integer(2);
  }
  Query row = db.query(Sql::kDepthHeld);
  while (row.next()) depths.work(row).held = row.integer(2);
  return {.now = now, .queues = depths.take()};
}

}  // namespace perdure::sqlite
