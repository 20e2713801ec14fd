#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "provider/sqlite/write_job.h"

namespace perdure::sqlite {

using WriteJobs = std::vector<std::unique_ptr<WriteJob>>;

/// Jobs that wait for their group: two lanes, each in order. Threading: any thread.
class WriteQueue {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  void push(std::unique_ptr<WriteJob> job);
  bool empty() const;

  /// The next group, urgent jobs first: as many as fit into the limits, and always the first one.
  WriteJobs take_group(std::size_t max_entries, std::size_t max_rows);
  /// All jobs whose deadline has come, wherever they stand.
  WriteJobs take_expired(SteadyTime now);
  WriteJobs take_all();

  /// Waits for a job or for `stop`; false after `stop`.
  bool wait();
  void stop();
  bool stopped() const;

 private:
  using Lane = std::deque<std::unique_ptr<WriteJob>>;

  mutable std::mutex mutex_;
  std::condition_variable pushed_;
  // Guarded by mutex_.
  Lane urgent_;
  Lane ordinary_;
  SteadyTime next_deadline_ = SteadyTime::max();  // no job that waits has an earlier one
  bool stopped_ = false;
};

}  // namespace perdure::sqlite
