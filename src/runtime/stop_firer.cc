#include "runtime/stop_firer.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace perdure::runtime {

/// Those who fire belong to a round. When all of a round block, the next one begins, and who comes
/// back from a callback to find that ends, unless nobody of the new round is there.
struct ThreadedFirer::State {
  enum class Job { kNone, kDrain, kWatch };

  State(Start how, std::chrono::milliseconds time) : start(std::move(how)), patience(time) {}

  bool start_drain(const std::shared_ptr<State>& self);
  void start_watch(const std::shared_ptr<State>& self);
  void start_round(const std::shared_ptr<State>& self, std::size_t width);
  bool give_reserve(Job job);
  void drain(std::unique_lock<std::mutex>& lock,
             const std::shared_ptr<State>& self,
             std::uint64_t own_round);
  void watch(std::unique_lock<std::mutex>& lock, const std::shared_ptr<State>& self);
  void serve(const std::shared_ptr<State>& self);

  const Start start;  // not after `closed`
  const std::chrono::milliseconds patience;

  std::mutex mutex;
  std::condition_variable emptied;
  std::condition_variable called;  // the reserve
  // Guarded by mutex.
  std::deque<std::stop_source> waiting;
  std::uint64_t taken = 0;  // tokens that somebody began to fire
  std::uint64_t round = 0;
  std::size_t active = 0;  // who fires in this round
  bool watched = false;
  Job reserve = Job::kNone;  // what the reserve does, or shall do
  std::uint64_t reserve_round = 0;
  bool closed = false;
};

/// With the mutex held. False when the reserve has something to do already.
bool ThreadedFirer::State::give_reserve(Job job) {
  if (reserve != Job::kNone) return false;
  reserve = job;
  reserve_round = round;
  called.notify_one();
  return true;
}

/// With the mutex held. False when there is no thread for it.
bool ThreadedFirer::State::start_drain(const std::shared_ptr<State>& self) {
  if (closed) return false;
  try {
    start([self, own_round = round] {
      std::unique_lock lock(self->mutex);
      self->drain(lock, self, own_round);
    });
  } catch (const std::exception& error) {
    if (!give_reserve(Job::kDrain)) {
      log::error("no thread to fire stop tokens", {{"error", error.what()}});
      return false;
    }
  }
  ++active;
  return true;
}

/// With the mutex held. Without a thread for it the others wait for those that fire.
void ThreadedFirer::State::start_watch(const std::shared_ptr<State>& self) {
  if (watched || closed) return;
  try {
    start([self] {
      std::unique_lock lock(self->mutex);
      self->watch(lock, self);
    });
  } catch (const std::exception& error) {
    if (!give_reserve(Job::kWatch)) {
      return log::error("no thread to watch stop callbacks", {{"error", error.what()}});
    }
  }
  watched = true;
}

void ThreadedFirer::State::start_round(const std::shared_ptr<State>& self, std::size_t width) {
  ++round;
  active = 0;
  while (active < std::min(width, waiting.size()) && start_drain(self)) {
  }
}

void ThreadedFirer::State::drain(std::unique_lock<std::mutex>& lock,
                                 const std::shared_ptr<State>& self,
                                 std::uint64_t own_round) {
  while (!waiting.empty()) {
    if (round != own_round) {
      if (active > 0) return;
      own_round = round;
      ++active;
    }
    std::stop_source source = std::move(waiting.front());
    waiting.pop_front();
    ++taken;
    if (waiting.empty()) {
      emptied.notify_all();
    } else {
      start_watch(self);
    }
    lock.unlock();
    source.request_stop();
    lock.lock();
  }
  if (round == own_round) --active;
}

void ThreadedFirer::State::watch(std::unique_lock<std::mutex>& lock,
                                 const std::shared_ptr<State>& self) {
  std::size_t width = 1;
  while (!waiting.empty()) {
    const std::uint64_t seen = taken;
    if (emptied.wait_for(lock, patience, [this] { return waiting.empty(); })) break;
    if (taken != seen) continue;
    start_round(self, width);
    width *= 2;
    if (active > 0) continue;
    // No thread to be had but this one.
    watched = false;
    ++active;
    return drain(lock, self, round);
  }
  watched = false;
}

/// The life of the reserve.
void ThreadedFirer::State::serve(const std::shared_ptr<State>& self) {
  std::unique_lock lock(mutex);
  for (;;) {
    called.wait(lock, [this] { return closed || reserve != Job::kNone; });
    if (reserve == Job::kNone) return;
    if (reserve == Job::kDrain) drain(lock, self, reserve_round);
    if (reserve == Job::kWatch) watch(lock, self);
    reserve = Job::kNone;
  }
}

ThreadedFirer::ThreadedFirer(std::chrono::milliseconds patience, Start start) {
  if (!start) start = [this](std::function<void()> task) { pool_.run(std::move(task)); };
  state_ = std::make_shared<State>(std::move(start), patience);
  reserve_ = std::thread([state = state_] { state->serve(state); });
}

ThreadedFirer::~ThreadedFirer() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    state_->called.notify_one();
    // With something to do it may be in a callback: it touches the state alone.
    if (state_->reserve != State::Job::kNone) reserve_.detach();
  }
  if (reserve_.joinable()) reserve_.join();
  pool_.close(steady_now());
}

void ThreadedFirer::fire(std::stop_source source) {
  try {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back(source);
    if (state_->active != 0) return state_->start_watch(state_);
    // Without a thread all of them are in callbacks, and the first that comes back takes it.
    state_->start_drain(state_);
  } catch (const std::bad_alloc&) {
    source.request_stop();
  }
}

}  // namespace perdure::runtime
