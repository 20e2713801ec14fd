#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "provider/sqlite/connection.h"
#include "provider/sqlite/schema.h"
#include "tests/conformance/peer.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite {
namespace {

TEST(OpenTogether, ManyProcessesMakeANewStoreOnce) {
  constexpr int kProcesses = 4;
  const support::TempDir dir;
  const std::string path = dir.file("new.db");
  std::mutex mutex;
  std::set<std::int64_t> epochs;
  // A peer dies with the thread that spawned it, so all of them stay until the last is there.
  std::latch all_there(kProcesses);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kProcesses; ++i) {
      threads.emplace_back([&] {
        try {
          const auto peer = conformance::Peer::spawn(PERDURE_PEER, path, VirtualClock::kStart);
          const Epoch epoch = peer->register_process();
          {
            const std::lock_guard lock(mutex);
            epochs.insert(epoch.value);
          }
          all_there.arrive_and_wait();
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
          all_there.count_down();
        }
      });
    }
  }
  EXPECT_EQ(epochs.size(), std::size_t{kProcesses});
  auto db = Connection::open(path, Access::kReadOnly);
  Query rows = db->query_text("SELECT count(*) FROM schema_migrations");
  ASSERT_TRUE(rows.next());
  EXPECT_EQ(rows.integer(0), static_cast<std::int64_t>(schema_migrations().size()));
}

}  // namespace
}  // namespace perdure::sqlite
