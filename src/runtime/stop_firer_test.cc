#include "runtime/stop_firer.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace perdure::runtime {

namespace {

using namespace std::chrono_literals;

/// Opens once; shared with callbacks that block.
class Barrier {
 public:
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 60s, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST(ThreadedFirer, FiresEveryToken) {
  constexpr int kTokens = 1'000;
  std::atomic<int> fired{0};
  Barrier all;
  std::vector<std::stop_source> sources(kTokens);
  const auto on_stop = [&] {
    if (++fired == kTokens) all.open();
  };
  std::vector<std::unique_ptr<std::stop_callback<decltype(on_stop)>>> callbacks;
  for (std::stop_source& each : sources) {
    callbacks.push_back(
        std::make_unique<std::stop_callback<decltype(on_stop)>>(each.get_token(), on_stop));
  }
  ThreadedFirer firer;
  for (const std::stop_source& each : sources) firer.fire(each);
  EXPECT_TRUE(all.wait());
}

TEST(ThreadedFirer, RunsCallbacksOnAnotherThread) {
  ThreadedFirer firer;
  std::stop_source source;
  std::thread::id where;
  Barrier done;
  const std::stop_callback callback(source.get_token(), [&] {
    where = std::this_thread::get_id();
    done.open();
  });
  firer.fire(source);
  ASSERT_TRUE(done.wait());
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(ThreadedFirer, IsNotHeldUpByCallbacksThatBlock) {
  constexpr int kBlocking = 300;
  Barrier let_go;
  Barrier reached;
  Barrier all_block;
  std::atomic<int> blocked{0};
  std::vector<std::stop_source> sources(kBlocking);
  const auto block = [&] {
    if (++blocked == kBlocking) all_block.open();
    let_go.wait();
  };
  std::vector<std::unique_ptr<std::stop_callback<decltype(block)>>> callbacks;
  for (std::stop_source& each : sources) {
    callbacks.push_back(
        std::make_unique<std::stop_callback<decltype(block)>>(each.get_token(), block));
  }
  std::stop_source last;
  const std::stop_callback callback(last.get_token(), [&] { reached.open(); });
  ThreadedFirer firer(1ms);
  for (const std::stop_source& each : sources) firer.fire(each);
  firer.fire(last);
  EXPECT_TRUE(reached.wait()) << "behind many that block";
  EXPECT_TRUE(all_block.wait()) << blocked;
  let_go.open();
}

TEST(ThreadedFirer, MayEndWhileACallbackBlocks) {
  const auto let_go = std::make_shared<Barrier>();
  const auto began = std::make_shared<Barrier>();
  const auto ended = std::make_shared<Barrier>();
  std::stop_source source;
  const std::stop_callback callback(source.get_token(), [let_go, began, ended] {
    began->open();
    let_go->wait();
    ended->open();
  });
  {
    ThreadedFirer firer;
    firer.fire(source);
    ASSERT_TRUE(began->wait());
  }
  let_go->open();
  EXPECT_TRUE(ended->wait());
}

}  // namespace

}  // namespace perdure::runtime
