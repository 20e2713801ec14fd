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
/// back from a callback to find that ends.
struct ThreadedFirer::State {
  State(HandlerPool& threads, std::chrono::milliseconds time) : pool(threads), patience(time) {}

  bool start_drain(const std::shared_ptr<State>& self);
  void start_watch(const std::shared_ptr<State>& self);
  void start_round(const std::shared_ptr<State>& self, std::size_t width);
  void drain(std::unique_lock<std::mutex>& lock,
             const std::shared_ptr<State>& self,
             std::uint64_t own_round);
  void watch(const std::shared_ptr<State>& self);

  HandlerPool& pool;  // not after `closed`
  const std::chrono::milliseconds patience;

  std::mutex mutex;
  std::condition_variable emptied;
  // Guarded by mutex.
  std::deque<std::stop_source> waiting;
  std::uint64_t taken = 0;  // tokens that somebody began to fire
  std::uint64_t round = 0;
  std::size_t active = 0;  // who fires in this round
  bool watched = false;
  bool closed = false;
};

/// With the mutex held. False when there is no thread for it.
bool ThreadedFirer::State::start_drain(const std::shared_ptr<State>& self) {
  if (closed) return false;
  try {
    pool.run([self, own_round = round] {
      std::unique_lock lock(self->mutex);
      self->drain(lock, self, own_round);
    });
  } catch (const std::exception& error) {
    log::error("no thread to fire stop tokens", {{"error", error.what()}});
    return false;
  }
  ++active;
  return true;
}

/// With the mutex held. Without a thread for it the others wait for those that fire.
void ThreadedFirer::State::start_watch(const std::shared_ptr<State>& self) {
  if (watched || closed) return;
  try {
    pool.run([self] { self->watch(self); });
    watched = true;
  } catch (const std::exception& error) {
    log::error("no thread to watch stop callbacks", {{"error", error.what()}});
  }
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
  while (round == own_round && !waiting.empty()) {
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

void ThreadedFirer::State::watch(const std::shared_ptr<State>& self) {
  std::unique_lock lock(mutex);
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

ThreadedFirer::ThreadedFirer(std::chrono::milliseconds patience)
    : state_(std::make_shared<State>(pool_, patience)) {}

ThreadedFirer::~ThreadedFirer() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
  }
  pool_.close(steady_now());
}

void ThreadedFirer::fire(std::stop_source source) {
  try {
    const std::lock_guard lock(state_->mutex);
    state_->waiting.push_back(source);
    if (state_->active != 0) return state_->start_watch(state_);
    if (state_->start_drain(state_)) return;
    state_->waiting.pop_back();
  } catch (const std::bad_alloc&) {
  }
  source.request_stop();
}

}  // namespace perdure::runtime
