#include "cli/bench/starters.h"

#include <utility>

namespace perdure::bench {

Starters::Starters(int threads, std::function<void()> call) : call_(std::move(call)) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

Starters::~Starters() {
  join();
}

void Starters::allow(std::int64_t calls) {
  {
    const std::lock_guard lock(mutex_);
    allowed_ += calls;
  }
  if (calls == 1) {
    changed_.notify_one();
  } else if (calls > 1) {
    changed_.notify_all();
  }
}

void Starters::finish() {
  join();
  check();
}

void Starters::check() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void Starters::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return finished_ || allowed_ > 0; });
    if (finished_) return;
    --allowed_;
    lock.unlock();
    std::exception_ptr error;
    try {
      call_();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (!error) continue;
    if (!error_) error_ = error;
    finished_ = true;
    changed_.notify_all();
  }
}

void Starters::join() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace perdure::bench
