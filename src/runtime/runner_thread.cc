#include "runtime/runner_thread.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace perdure::runtime {

struct RunnerThread::State {
  void run_thread();
  std::shared_ptr<CodeBatch> next();
  void end_batch();
  void return_late();

  std::mutex mutex;
  std::condition_variable moved;
  // Guarded by mutex.
  ThreadRef thread;
  std::shared_ptr<CodeBatch> handed_over;
  bool running = false;  // from the hand-over to the end of the batch
  bool closing = false;
  bool let_go = false;
  std::function<void()> on_return;
};

void RunnerThread::State::run_thread() {
  allow_stacks();
  {
    const std::lock_guard lock(mutex);
    thread = ThreadRef::current();
  }
  while (const std::shared_ptr<CodeBatch> batch = next()) {
    if (!batch->run()) return return_late();
    end_batch();
  }
}

/// Null: it is over.
std::shared_ptr<CodeBatch> RunnerThread::State::next() {
  std::unique_lock lock(mutex);
  moved.wait(lock, [this] { return closing || handed_over; });
  return std::exchange(handed_over, nullptr);
}

void RunnerThread::State::end_batch() {
  {
    const std::lock_guard lock(mutex);
    running = false;
  }
  moved.notify_all();
}

/// Who abandons a piece says afterwards what there is to do when it returns; that may be before.
void RunnerThread::State::return_late() {
  std::function<void()> told;
  {
    std::unique_lock lock(mutex);
    moved.wait(lock, [this] { return let_go; });
    told = std::exchange(on_return, nullptr);
  }
  if (told) told();
}

RunnerThread::RunnerThread()
    : state_(std::make_shared<State>()), thread_([state = state_] { state->run_thread(); }) {}

RunnerThread::~RunnerThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->closing = true;
  }
  state_->moved.notify_all();
  thread_.join();
}

void RunnerThread::begin(std::shared_ptr<CodeBatch> batch) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->handed_over = std::move(batch);
    state_->running = true;
  }
  state_->moved.notify_all();
}

bool RunnerThread::wait_until(std::chrono::steady_clock::time_point at) {
  std::unique_lock lock(state_->mutex);
  return state_->moved.wait_until(lock, at, [this] { return !state_->running; });
}

ThreadRef RunnerThread::thread() const {
  const std::lock_guard lock(state_->mutex);
  return state_->thread;
}

void RunnerThread::let_go(std::function<void()> on_return) {
  thread_.detach();
  {
    const std::lock_guard lock(state_->mutex);
    state_->on_return = std::move(on_return);
    state_->let_go = true;
  }
  state_->moved.notify_all();
}

}  // namespace perdure::runtime
