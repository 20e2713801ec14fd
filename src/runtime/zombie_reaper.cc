#include "runtime/zombie_reaper.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace perdure::runtime {

namespace {

std::int64_t seconds_of(ZombieReaper::Time::duration time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

std::string stack_in(const std::shared_ptr<KickGate>& gate) {
  std::string stack = "not seen";
  if (gate) gate->look([&](const ThreadRef& thread) { stack = stack_of(thread); });
  std::replace(stack.begin(), stack.end(), '\n', '|');
  return stack;
}

}  // namespace

ZombieTimes zombie_times(const RuntimeOptions& options) {
  return {options.zombie_retry_interval,
          options.zombie_retry_max_delay,
          options.zombie_grace_period,
          options.zombie_give_up_after};
}

ZombieReaper::Time ZombieReaper::Watched::next() const {
  Time next = std::min(retry_at, told_at + stray.times.give_up_after);
  if (!counted) next = std::min(next, told_at + stray.times.grace);
  return next;
}

void ZombieReaper::push(Due due) {
  due_.push_back(due);
  std::push_heap(due_.begin(), due_.end());
}

ZombieReaper::Id ZombieReaper::watch(Stray stray, Time told_at) {
  auto watched = std::make_shared<Watched>();
  watched->interval = stray.times.retry_interval;
  watched->retry_at = told_at + watched->interval;
  watched->told_at = told_at;
  watched->stray = std::move(stray);
  const Time next = watched->next();
  Id id = 0;
  bool earliest = false;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_id_;
    watched_.emplace(id, std::move(watched));
    push({next, id});
    earliest = due_.front().id == id;
    woken_ = woken_ || earliest;
  }
  if (earliest) changed_.notify_all();
  return id;
}

void ZombieReaper::returned(Id id) {
  std::shared_ptr<Watched> watched;
  {
    const std::lock_guard lock(mutex_);
    const auto found = watched_.find(id);
    if (found == watched_.end()) return;
    watched = std::move(found->second);
    watched_.erase(found);
    if (watched->counted) {
      --count_;
      --*watched->stray.count;
    }
  }
  ended_.notify_all();
  if (!watched->counted) return;
  log::warning("a zombie has returned",
               {{"what", watched->stray.what()},
                {"seconds", seconds_of(steady_now() - watched->told_at)}});
}

std::size_t ZombieReaper::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::size_t ZombieReaper::count_alive(
    const std::vector<std::shared_ptr<ZombieCount>>& of) const {
  std::size_t alive = 0;
  for (const auto& each : of) alive += static_cast<std::size_t>(each->load());
  for (const auto& [id, watched] : watched_) {
    if (watched->counted) continue;
    if (std::find(of.begin(), of.end(), watched->stray.count) != of.end()) ++alive;
  }
  return alive;
}

std::size_t ZombieReaper::alive(const std::vector<std::shared_ptr<ZombieCount>>& of) const {
  const std::lock_guard lock(mutex_);
  return count_alive(of);
}

bool ZombieReaper::wait_until_none(const std::vector<std::shared_ptr<ZombieCount>>& of,
                                   Time until) {
  std::unique_lock lock(mutex_);
  return ended_.wait_until(lock, until, [&] { return count_alive(of) == 0; });
}

std::optional<ZombieReaper::Due> ZombieReaper::take_due(Time now) {
  const std::lock_guard lock(mutex_);
  if (due_.empty() || due_.front().at > now) return std::nullopt;
  std::pop_heap(due_.begin(), due_.end());
  const Due due = due_.back();
  due_.pop_back();
  return due;
}

std::optional<ZombieReaper::Time> ZombieReaper::poll_once(Time now) {
  while (const std::optional<Due> due = take_due(now)) {
    std::shared_ptr<Watched> watched;
    {
      const std::lock_guard lock(mutex_);
      const auto found = watched_.find(due->id);
      if (found == watched_.end()) continue;
      watched = found->second;
    }
    Time next = now + std::chrono::seconds(1);
    try {
      act(due->id, *watched, now);  // may take a while: without the lock
      next = watched->next();
    } catch (const std::exception& error) {  // no memory: once more, later
      log::error("a zombie cannot be looked after now", {{"error", error.what()}});
    }
    const std::lock_guard lock(mutex_);
    if (watched_.contains(due->id)) push({next, due->id});
  }
  const std::lock_guard lock(mutex_);
  if (due_.empty()) return std::nullopt;
  return due_.front().at;
}

void ZombieReaper::act(Id id, Watched& watched, Time now) {
  const Stray& stray = watched.stray;
  while (watched.retry_at <= now) {
    if (stray.kicks && stray.gate) stray.gate->kick();
    watched.interval = std::min(2 * watched.interval, stray.times.retry_max_delay);
    watched.retry_at += watched.interval;
  }
  const bool over = watched.told_at + stray.times.give_up_after <= now;
  if (!watched.counted && (over || watched.told_at + stray.times.grace <= now)) {
    become_zombie(id, watched, now);
  }
  if (over) give_up(id, watched);
}

void ZombieReaper::become_zombie(Id id, Watched& watched, Time now) {
  const std::string stack = stack_in(watched.stray.gate);
  std::size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    if (!watched_.contains(id)) return;  // it has returned meanwhile
    watched.counted = true;
    ++*watched.stray.count;
    count = ++count_;
  }
  tell(count);
  log::error("a zombie: it was told to stop, and its thread runs on",
             {{"what", watched.stray.what()},
              {"seconds", seconds_of(now - watched.told_at)},
              {"zombies", count},
              {"stack", stack}});
}

void ZombieReaper::give_up(Id id, const Watched& watched) {
  {
    const std::lock_guard lock(mutex_);
    if (watched_.erase(id) == 0) return;
  }
  log::error("a zombie is given up: its thread is left to itself until the process ends",
             {{"what", watched.stray.what()}});
}

void ZombieReaper::tell(std::size_t count) {
  const std::lock_guard lock(listening_mutex_);
  for (const auto& hears : listeners_) hears(count);
}

void ZombieReaper::wait(std::optional<Time> until) {
  std::unique_lock lock(mutex_);
  const auto woken = [this] { return std::exchange(woken_, false); };
  if (until) {
    changed_.wait_until(lock, *until, woken);
  } else {
    changed_.wait(lock, woken);
  }
}

ZombieReaper::Listening::Listening(ZombieReaper& reaper, std::function<void(std::size_t)> hears)
    : reaper_(reaper) {
  const std::lock_guard lock(reaper_.listening_mutex_);
  hears(reaper_.count());
  place_ = reaper_.listeners_.insert(reaper_.listeners_.end(), std::move(hears));
}

ZombieReaper::Listening::~Listening() {
  const std::lock_guard lock(reaper_.listening_mutex_);
  reaper_.listeners_.erase(place_);
}

ZombieReaper& process_reaper() {
  // Strays may outlive every other object of the process.
  static ZombieReaper* const reaper = [] {
    auto* const made = new ZombieReaper;  // NOLINT: never destroyed
    std::thread([made] {
      for (;;) made->wait(made->poll_once(steady_now()));
    }).detach();
    return made;
  }();
  return *reaper;
}

}  // namespace perdure::runtime
