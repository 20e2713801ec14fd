#include "runtime/settler.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace perdure::runtime {

namespace {

/// True when the same entry may be sent again: nothing was written, or its token tells.
bool is_passing(ErrorCode code) {
  return code == ErrorCode::kBusy || code == ErrorCode::kUnavailable ||
         code == ErrorCode::kCommitUnknown;
}

}  // namespace

void Settler::add(std::shared_ptr<Attempt> attempt, WorkOutcome outcome) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    waiting_.push_back({std::move(attempt), std::move(outcome), false});
  }
  added_.notify_one();
}

Step Settler::poll_once() {
  std::deque<Ended> ended = take();
  if (ended.empty()) return {};
  Result<Batch<void>> answer = unavailable("not sent");
  try {
    answer = send(ended);
  } catch (...) {
    put_back(std::move(ended));
    throw;
  }
  Step step;
  std::deque<Ended> again;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    const Result<void> each = answer.ok() ? (*answer)[i] : Result<void>(answer.error());
    if (!each.ok() && is_passing(each.code())) {
      step.trouble = each.error();
      ended[i].unsure = ended[i].unsure || each.code() == ErrorCode::kCommitUnknown;
      again.push_back(std::move(ended[i]));
      continue;
    }
    step.worked = true;
    done(ended[i], each);
  }
  put_back(std::move(again));
  return step;
}

Result<Batch<void>> Settler::send(const std::deque<Ended>& ended) {
  AckWorkItems ack;
  for (const Ended& each : ended) {
    const WorkItem& item = each.attempt->item();
    ack.entries.push_back({item.id, item.lock, each.outcome, each.attempt->reported()});
  }
  return parts_.provider.ack_work_items(std::move(ack));
}

std::deque<Settler::Ended> Settler::take() {
  const std::lock_guard lock(mutex_);
  if (closed_) return {};
  std::deque<Ended> taken;
  const auto count = static_cast<std::ptrdiff_t>(std::min(waiting_.size(), batch_));
  std::move(waiting_.begin(), waiting_.begin() + count, std::back_inserter(taken));
  waiting_.erase(waiting_.begin(), waiting_.begin() + count);
  sending_ = !taken.empty();
  return taken;
}

void Settler::put_back(std::deque<Ended> ended) {
  const std::lock_guard lock(mutex_);
  sending_ = false;
  if (closed_) return;
  waiting_.insert(waiting_.begin(),
                  std::make_move_iterator(ended.begin()),
                  std::make_move_iterator(ended.end()));
}

void Settler::done(const Ended& ended, const Result<void>& answer) {
  const WorkItem& item = ended.attempt->item();
  if (!answer.ok()) {
    const bool refused = answer.code() == ErrorCode::kLockLost;
    // An attempt that stopped as it was told may well be late, the failure of one that was told to
    // stop was logged when it returned, and one that was sent twice is refused when the first was
    // stored: nobody needs to hear of them. A result that is lost is worth a warning.
    const bool completed = ended.outcome.kind == WorkOutcome::Kind::kCompleted;
    const bool expected = refused && (ended.unsure || (ended.attempt->stopped_by() && !completed));
    log::write(expected ? log::Level::kDebug : log::Level::kWarning,
               refused ? "the outcome of an activity was refused: its claim is gone"
                       : "the outcome of an activity could not be stored",
               {{"instance", item.instance_id},
                {"activity", item.work.name},
                {"error", answer.error().message}});
  }
  parts_.attempts.remove({item.lock});
  parts_.suspects.ended(item);
}

void Settler::wait(std::chrono::milliseconds bound) {
  std::unique_lock lock(mutex_);
  added_.wait_for(lock, bound, [this] { return woken_ || !waiting_.empty(); });
  woken_ = false;
}

void Settler::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  added_.notify_all();
}

bool Settler::empty() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() && !sending_;
}

void Settler::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  waiting_.clear();
}

}  // namespace perdure::runtime
