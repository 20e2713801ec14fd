#include "runtime/handler_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace perdure::runtime {

struct HandlerPool::State {
  struct Task {
    std::function<void()> run;
    std::function<void()> after;  // may be empty
  };

  explicit State(std::chrono::milliseconds time) : idle_for(time) {}

  void add_thread(const std::shared_ptr<State>& self);
  void run_thread();
  void run_next(std::unique_lock<std::mutex>& lock);
  /// Threads that come for a task by themselves, soon: they wait, begin, or end a task.
  std::size_t free() const { return threads.size() - busy; }
  std::vector<std::thread> take_ended() { return std::exchange(ended, {}); }

  const std::chrono::milliseconds idle_for;

  std::mutex mutex;
  std::condition_variable moved;
  // Guarded by mutex.
  std::deque<Task> tasks;
  std::size_t busy = 0;  // threads that run a task, and not what comes after it
  std::unordered_map<std::thread::id, std::thread> threads;
  std::vector<std::thread> ended;  // to be joined
  bool closing = false;
};

namespace {

void join_all(std::vector<std::thread> threads) {
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

/// With the mutex held: the new thread cannot end before it is in the map.
void HandlerPool::State::add_thread(const std::shared_ptr<State>& self) {
  std::thread thread([self] { self->run_thread(); });
  const std::thread::id id = thread.get_id();
  threads.emplace(id, std::move(thread));
}

void HandlerPool::State::run_thread() {
  std::unique_lock lock(mutex);
  for (;;) {
    moved.wait_for(lock, idle_for, [this] { return closing || !tasks.empty(); });
    if (tasks.empty()) break;
    run_next(lock);
  }
  const auto own = threads.find(std::this_thread::get_id());
  if (own == threads.end()) return;  // left to itself
  ended.push_back(std::move(own->second));
  threads.erase(own);
  moved.notify_all();
}

/// Both are destroyed outside the lock, with all that they own.
void HandlerPool::State::run_next(std::unique_lock<std::mutex>& lock) {
  {
    Task task = std::move(tasks.front());
    tasks.pop_front();
    ++busy;
    if (closing) moved.notify_all();
    lock.unlock();
    task.run();
    task.run = nullptr;
    lock.lock();
    --busy;
    lock.unlock();
    if (task.after) task.after();
  }
  lock.lock();
}

HandlerPool::HandlerPool(std::chrono::milliseconds idle_for)
    : state_(std::make_shared<State>(idle_for)) {}

HandlerPool::~HandlerPool() {
  close(steady_now());
}

void HandlerPool::run(std::function<void()> task, std::function<void()> after) {
  std::vector<std::thread> ended;
  {
    const std::lock_guard lock(state_->mutex);
    state_->tasks.push_back({std::move(task), std::move(after)});
    ended = state_->take_ended();
    if (state_->free() < state_->tasks.size()) {
      try {
        state_->add_thread(state_);
      } catch (...) {
        // Not left to a thread that may never be free: the caller still has it.
        state_->tasks.pop_back();
        throw;
      }
    }
  }
  state_->moved.notify_one();
  join_all(std::move(ended));
}

std::size_t HandlerPool::close(std::chrono::steady_clock::time_point until) {
  std::vector<std::thread> ended;
  std::size_t left = 0;
  {
    std::unique_lock lock(state_->mutex);
    state_->closing = true;
    state_->moved.notify_all();
    state_->moved.wait_until(lock, until, [this] { return state_->threads.empty(); });
    // Those without a task end by themselves, at once.
    state_->moved.wait(lock, [this] { return state_->threads.size() <= state_->busy; });
    left = state_->threads.size();
    for (auto& [id, thread] : state_->threads) thread.detach();
    state_->threads.clear();
    ended = state_->take_ended();
  }
  join_all(std::move(ended));
  return left;
}

std::size_t HandlerPool::threads() const {
  const std::lock_guard lock(state_->mutex);
  return state_->threads.size();
}

}  // namespace perdure::runtime
