#include "runtime/end_process.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace perdure::runtime {

namespace {

constexpr std::chrono::seconds kPatience{1};

struct Said {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;  // guarded by mutex
};

void say(std::function<void()> last_words) {
  const auto said = std::make_shared<Said>();
  std::thread([said, last_words = std::move(last_words)] {
    last_words();
    {
      const std::lock_guard lock(said->mutex);
      said->done = true;
    }
    said->changed.notify_all();
  }).detach();
  std::unique_lock lock(said->mutex);
  said->changed.wait_for(lock, kPatience, [&] { return said->done; });
}

}  // namespace

void end_process(int code, std::function<void()> last_words) noexcept {
  try {
    say(std::move(last_words));
  } catch (...) {  // no thread, no memory: the end is what matters
  }
  std::_Exit(code);
}

}  // namespace perdure::runtime
