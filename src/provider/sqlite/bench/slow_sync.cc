#include "provider/sqlite/bench/slow_sync.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include <sqlite3.h>

#include "base/check.h"

namespace perdure::sqlite {

namespace {

/// The methods of a kind of files, with another xSync. SQLite sees the base alone.
struct SlowMethods : sqlite3_io_methods {
  const sqlite3_io_methods* plain = nullptr;
  std::chrono::microseconds extra{};
  std::atomic<std::int64_t>* count = nullptr;
};

int slow_sync(sqlite3_file* file, int flags) {
  const auto* const methods = static_cast<const SlowMethods*>(file->pMethods);
  ++*methods->count;
  std::this_thread::sleep_for(methods->extra);
  return methods->plain->xSync(file, flags);
}

}  // namespace

struct SlowSync::State {
  sqlite3_vfs* plain = nullptr;
  sqlite3_vfs slow{};
  std::chrono::microseconds extra{};
  std::atomic<std::int64_t> count{0};
  std::mutex mutex;
  // Guarded by mutex; files point into it.
  std::map<const sqlite3_io_methods*, SlowMethods> methods;

  const SlowMethods* slowed(const sqlite3_io_methods* original) {
    const std::lock_guard lock(mutex);
    const auto [place, added] = methods.try_emplace(original);
    SlowMethods& hooked = place->second;
    if (added) {
      static_cast<sqlite3_io_methods&>(hooked) = *original;
      hooked.xSync = slow_sync;
      hooked.plain = original;
      hooked.extra = extra;
      hooked.count = &count;
    }
    return &hooked;
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    auto* const self = static_cast<State*>(vfs->pAppData);
    const int result = self->plain->xOpen(self->plain, name, file, flags, out);
    if (file->pMethods != nullptr) file->pMethods = self->slowed(file->pMethods);
    return result;
  }
};

SlowSync::SlowSync(std::chrono::microseconds extra) : state_(std::make_unique<State>()) {
  state_->plain = sqlite3_vfs_find(nullptr);
  PERDURE_CHECK(state_->plain != nullptr, "SQLite has no file system");
  state_->extra = extra;
  state_->slow = *state_->plain;
  state_->slow.zName = "perdure-slow-sync";
  state_->slow.xOpen = State::open;
  // The other methods of the plain one look at nothing that belongs to this object.
  state_->slow.pAppData = state_.get();
  sqlite3_vfs_register(&state_->slow, 1);
}

SlowSync::~SlowSync() {
  sqlite3_vfs_unregister(&state_->slow);
  sqlite3_vfs_register(state_->plain, 1);
}

std::int64_t SlowSync::count() const {
  return state_->count;
}

}  // namespace perdure::sqlite
