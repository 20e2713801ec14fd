#include "provider/sqlite/write_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace perdure::sqlite {

void WriteQueue::push(std::unique_ptr<WriteJob> job) {
  {
    const std::lock_guard lock(mutex_);
    next_deadline_ = std::min(next_deadline_, job->deadline);
    Lane& lane = job->urgent ? urgent_ : ordinary_;
    lane.push_back(std::move(job));
  }
  pushed_.notify_one();
}

bool WriteQueue::empty() const {
  const std::lock_guard lock(mutex_);
  return urgent_.empty() && ordinary_.empty();
}

WriteJobs WriteQueue::take_group(std::size_t max_entries, std::size_t max_rows) {
  const std::lock_guard lock(mutex_);
  WriteJobs group;
  std::size_t entries = 0;
  std::size_t rows = 0;
  for (Lane* lane : {&urgent_, &ordinary_}) {
    while (!lane->empty()) {
      entries += lane->front()->entries();
      rows += lane->front()->rows();
      if (!group.empty() && (entries > max_entries || rows > max_rows)) return group;
      group.push_back(std::move(lane->front()));
      lane->pop_front();
    }
  }
  return group;
}

WriteJobs WriteQueue::take_expired(SteadyTime now) {
  const std::lock_guard lock(mutex_);
  WriteJobs expired;
  if (now < next_deadline_) return expired;
  next_deadline_ = SteadyTime::max();
  for (Lane* lane : {&urgent_, &ordinary_}) {
    Lane waiting;
    for (auto& job : *lane) {
      if (job->deadline <= now) {
        expired.push_back(std::move(job));
      } else {
        next_deadline_ = std::min(next_deadline_, job->deadline);
        waiting.push_back(std::move(job));
      }
    }
    *lane = std::move(waiting);
  }
  return expired;
}

WriteJobs WriteQueue::take_all() {
  const std::lock_guard lock(mutex_);
  WriteJobs all;
  for (Lane* lane : {&urgent_, &ordinary_}) {
    std::ranges::move(*lane, std::back_inserter(all));
    lane->clear();
  }
  return all;
}

bool WriteQueue::wait() {
  std::unique_lock lock(mutex_);
  pushed_.wait(lock, [this] { return stopped_ || !urgent_.empty() || !ordinary_.empty(); });
  return !stopped_;
}

void WriteQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  pushed_.notify_all();
}

bool WriteQueue::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

}  // namespace perdure::sqlite
