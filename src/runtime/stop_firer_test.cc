#include "runtime/stop_firer.h"

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
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

/// Threads as long as there are some: none at first.
class FewThreads {
 public:
  ThreadedFirer::Start start() {
    return [this](std::function<void()> task) {
      if (left-- <= 0) throw std::system_error(EAGAIN, std::generic_category());
      pool_.run(std::move(task));
    };
  }

  std::atomic<int> left{0};

 private:
  HandlerPool pool_;
};

/// A token with a callback that says when and where it runs, and blocks when it shall.
class Listener {
 public:
  explicit Listener(Barrier* let_go = nullptr) : let_go_(let_go) {}

  std::stop_source source;
  Barrier began;
  std::thread::id where;

 private:
  void hear() {
    where = std::this_thread::get_id();
    began.open();
    if (let_go_ != nullptr) let_go_->wait();
  }

  Barrier* let_go_;
  std::stop_callback<std::function<void()>> callback_{source.get_token(), [this] { hear(); }};
};

TEST(ThreadedFirer, RunsNothingOnTheCallerWhenThereIsNoThread) {
  FewThreads none;
  Barrier let_go;
  Listener blocking(&let_go);
  Listener behind;
  ThreadedFirer firer(1ms, none.start());
  firer.fire(blocking.source);
  ASSERT_TRUE(blocking.began.wait());
  EXPECT_NE(blocking.where, std::this_thread::get_id());
  firer.fire(behind.source);
  EXPECT_FALSE(behind.source.stop_requested()) << "there is one thread, and it blocks";
  let_go.open();
  ASSERT_TRUE(behind.began.wait());
  EXPECT_NE(behind.where, std::this_thread::get_id());
}

TEST(ThreadedFirer, FiresBehindTheReserveAsSoonAsThereAreThreads) {
  FewThreads few;
  Barrier let_go;
  Listener blocking(&let_go);
  Listener behind;
  ThreadedFirer firer(1ms, few.start());
  firer.fire(blocking.source);
  ASSERT_TRUE(blocking.began.wait());
  few.left = 2;  // one that sees that the reserve blocks, one that fires
  firer.fire(behind.source);
  EXPECT_TRUE(behind.began.wait());
  let_go.open();
}

TEST(ThreadedFirer, TakesTheReserveForWhatIsBehindTheLastThread) {
  FewThreads few;
  few.left = 1;
  Barrier let_go;
  Listener blocking(&let_go);
  Listener behind;
  Listener later;
  ThreadedFirer firer(1ms, few.start());
  firer.fire(blocking.source);
  ASSERT_TRUE(blocking.began.wait());
  firer.fire(behind.source);
  EXPECT_TRUE(behind.began.wait());
  firer.fire(later.source);
  EXPECT_TRUE(later.began.wait()) << "it is there again";
  let_go.open();
}

TEST(ThreadedFirer, MayEndWhileTheReserveBlocks) {
  FewThreads none;
  Barrier let_go;
  Barrier ended;
  Listener blocking(&let_go);
  Listener behind;
  const std::stop_callback last(behind.source.get_token(), [&] { ended.open(); });
  {
    ThreadedFirer firer(1ms, none.start());
    firer.fire(blocking.source);
    ASSERT_TRUE(blocking.began.wait());
    firer.fire(behind.source);
  }
  let_go.open();
  EXPECT_TRUE(ended.wait()) << "nothing that was to be fired is forgotten";
}

}  // namespace

}  // namespace perdure::runtime
