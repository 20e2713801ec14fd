#include "provider/sqlite/change_hub.h"

#include <algorithm>
#include <vector>

namespace perdure::sqlite {

namespace {

// A letter for the kind, so that a queue named like a number is not taken for an instance.
std::string instances_topic(std::string_view queue) {
  return "i:" + std::string(queue);
}
std::string work_topic(std::string_view queue) {
  return "w:" + std::string(queue);
}
std::string claims_topic(Epoch epoch) {
  return "c:" + std::to_string(epoch.value);
}
std::string run_topic(InstanceKey instance) {
  return "r:" + std::to_string(instance.value);
}

constexpr const char* kCarryOnTopic = "o";

/// Far enough for any wait, and safe to add to the present.
constexpr std::chrono::milliseconds kLongestWait = std::chrono::hours(24);

}  // namespace

void Topics::instances(std::string_view queue) {
  names_.insert(instances_topic(queue));
}
void Topics::work(std::string_view queue) {
  names_.insert(work_topic(queue));
}
void Topics::claims(Epoch epoch) {
  names_.insert(claims_topic(epoch));
}
void Topics::run(InstanceKey instance) {
  names_.insert(run_topic(instance));
}
void Topics::carry_on() {
  names_.insert(kCarryOnTopic);
}

ChangeHub::ChangeHub(Clock& clock, std::size_t max_topics)
    : clock_(clock), max_topics_(max_topics), on_advance_(clock.on_advance([this] {
        // Who has looked at the time and does not sleep yet holds the mutex.
        { const std::lock_guard lock(mutex_); }
        moved_.notify_all();
      })) {}

void ChangeHub::publish(const Topics& topics) {
  if (topics.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    ++version_;
    for (const std::string& name : topics.names()) last_change_[name] = version_;
    if (last_change_.size() > max_topics_) trim();
  }
  moved_.notify_all();
}

ChangeMark ChangeHub::mark(std::int64_t foreign) {
  const std::lock_guard lock(mutex_);
  foreign_ = std::max(foreign_, foreign);
  return {.local = version_, .foreign = foreign, .interrupts = interrupts_};
}

Wake ChangeHub::wait(const Interest& interest,
                     const std::function<std::int64_t()>& foreign_version,
                     std::chrono::milliseconds foreign_poll) {
  const SteadyTime end = steady_now() + std::min(interest.bound, kLongestWait);
  const auto poll = std::max(foreign_poll, std::chrono::milliseconds(1));
  std::unique_lock lock(mutex_);
  const auto wake = [this](Wake::Reason reason) {
    return Wake{
        .reason = reason,
        .mark = {.local = version_, .foreign = foreign_, .interrupts = interrupts_}};
  };
  if (foreign_version) look(foreign_version, lock);
  for (;;) {
    if (interrupts_ > interest.after.interrupts) return wake(Wake::Reason::kInterrupted);
    if (has_changed(interest)) return wake(Wake::Reason::kChanged);
    if (foreign_version && foreign_ > interest.after.foreign) return wake(Wake::Reason::kForeign);
    if (interest.until.has_value() && clock_.now() >= *interest.until) {
      return wake(Wake::Reason::kTime);
    }
    const SteadyTime now = steady_now();
    if (now >= end) return wake(Wake::Reason::kBound);

    SteadyTime next = end;
    if (interest.until.has_value()) {
      if (const auto sleep = clock_.sleep_until(*interest.until))
        next = std::min(next, now + *sleep);
    }
    if (foreign_version) {
      const SteadyTime look_at = looking_ ? now + poll : looked_at_ + poll;
      if (look_at <= now) {
        look(foreign_version, lock);
        continue;
      }
      next = std::min(next, look_at);
    }
    moved_.wait_until(lock, next);
  }
}

void ChangeHub::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    ++interrupts_;
  }
  moved_.notify_all();
}

bool ChangeHub::has_changed(const Interest& interest) const {
  const std::uint64_t mark = interest.after.local;
  if (version_ <= mark) return false;
  for (const std::string& queue : interest.orchestration_queues) {
    if (changed_after(instances_topic(queue), mark)) return true;
  }
  for (const std::string& queue : interest.work_queues) {
    if (changed_after(work_topic(queue), mark)) return true;
  }
  if (interest.claims_of && changed_after(claims_topic(*interest.claims_of), mark)) return true;
  if (interest.carry_on && changed_after(kCarryOnTopic, mark)) return true;
  return interest.run && changed_after(run_topic(*interest.run), mark);
}

bool ChangeHub::changed_after(const std::string& topic, std::uint64_t mark) const {
  const auto found = last_change_.find(topic);
  return (found == last_change_.end() ? floor_ : found->second) > mark;
}

void ChangeHub::trim() {
  // Half of them at once, so that trimming costs little per publish.
  std::vector<std::uint64_t> versions;
  versions.reserve(last_change_.size());
  for (const auto& [name, version] : last_change_) versions.push_back(version);
  const auto middle = versions.begin() + static_cast<std::ptrdiff_t>(versions.size() / 2);
  std::ranges::nth_element(versions, middle);
  floor_ = *middle;
  std::erase_if(last_change_, [this](const auto& entry) { return entry.second <= floor_; });
}

void ChangeHub::look(const std::function<std::int64_t()>& foreign_version,
                     std::unique_lock<std::mutex>& lock) {
  looking_ = true;
  lock.unlock();
  const std::int64_t seen = foreign_version();
  lock.lock();
  looking_ = false;
  looked_at_ = steady_now();
  if (seen > foreign_) {
    foreign_ = seen;
    moved_.notify_all();
  }
}

}  // namespace perdure::sqlite
