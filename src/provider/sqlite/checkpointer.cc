#include "provider/sqlite/checkpointer.h"

#include <algorithm>
#include <utility>

#include <sqlite3.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

Checkpointer::Checkpointer(Options options)
    : options_(std::move(options)), restart_at_(options_.restart_pages) {
  PERDURE_CHECK(options_.copy_pages > 0 && options_.restart_pages > 0, "a bound of pages");
  try {
    connect();
  } catch (const SqliteError& error) {
    log::warning("no connection for checkpoints yet", {{"error", error.what()}});
  }
  if (options_.thread) thread_ = std::thread([this] { run_thread(); });
}

Checkpointer::~Checkpointer() {
  stop();
  if (thread_.joinable()) thread_.join();
}

void Checkpointer::watch(Connection& writer) {
  sqlite3_wal_hook(writer.raw(), &Checkpointer::committed, this);
}

void Checkpointer::make_way() {
  std::unique_lock lock(mutex_);
  // Without a thread the one who waits may be the one who should copy.
  moved_.wait(lock, [this] {
    const bool too_long = options_.thread && pages_ >= held_at();
    return stopped_ || (!restarting_ && !too_long);
  });
}

bool Checkpointer::run_pending() {
  if (options_.thread) return false;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || !std::exchange(wanted_, false)) return false;
  }
  run();
  return true;
}

void Checkpointer::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  moved_.notify_all();
}

int Checkpointer::committed(void* self, sqlite3*, const char*, int pages) {
  static_cast<Checkpointer*>(self)->note_length(pages);
  return SQLITE_OK;
}

void Checkpointer::note_length(std::int64_t pages) {
  const std::lock_guard lock(mutex_);
  pages_ = pages;
  if (pages < copied_) {  // begun anew
    copied_ = 0;
    restart_at_ = options_.restart_pages;
  }
  if (pages - copied_ < options_.copy_pages && pages < restart_at_) return;
  if (!std::exchange(wanted_, true)) moved_.notify_all();
}

void Checkpointer::run_thread() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      moved_.wait(lock, [this] { return wanted_ || stopped_; });
      if (stopped_) return;
      wanted_ = false;
    }
    run();
  }
}

void Checkpointer::run() noexcept {
  const std::lock_guard running(run_mutex_);
  try {
    if (db_ == nullptr) connect();
    pass_failpoint("sqlite.checkpoint.before");
    copy();
    pass_failpoint("sqlite.checkpoint.after");
    return;
  } catch (const SqliteError& error) {
    log::warning("the log could not be copied into the database", {{"error", error.what()}});
    db_.reset();
  }
  const std::lock_guard lock(mutex_);
  copied_ = pages_;
  restart_at_ = std::max(restart_at_, pages_ + pages_ / 4 + 1);
  moved_.notify_all();
}

void Checkpointer::connect() {
  auto db = options_.open();
  // A connection that has read nothing has no log yet, and its checkpoints do nothing.
  db->exec("PRAGMA schema_version");
  db_ = std::move(db);
}

void Checkpointer::copy() {
  Progress progress = checkpoint(Mode::kPassive);
  {
    const std::lock_guard lock(mutex_);
    copied_ = pages_;
    if (std::max(pages_, progress.pages) < restart_at_) return;
  }
  // What was written meanwhile, so that the writer is held for little.
  checkpoint(Mode::kPassive);
  {
    const std::lock_guard lock(mutex_);
    restarting_ = true;
  }
  try {
    pass_failpoint("sqlite.checkpoint.restart");
    progress = checkpoint(Mode::kRestart);
  } catch (const SqliteError&) {
    const std::lock_guard lock(mutex_);
    restarting_ = false;
    throw;
  }
  const std::lock_guard lock(mutex_);
  restarting_ = false;
  if (progress.complete) {
    pages_ = 0;
    copied_ = 0;
    restart_at_ = options_.restart_pages;
  } else {
    const std::int64_t pages = std::max(pages_, progress.pages);
    copied_ = pages;
    restart_at_ = pages + pages / 4 + 1;
  }
  moved_.notify_all();
}

int Checkpointer::wait_for_others(void* self, int) {
  auto& checkpointer = *static_cast<Checkpointer*>(self);
  if (checkpointer.stopped_ || steady_now() >= checkpointer.patience_ends_) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return 1;
}

Checkpointer::Progress Checkpointer::checkpoint(Mode mode) {
  sqlite3* const db = db_->raw();
  const bool restart = mode == Mode::kRestart;
  patience_ends_ = steady_now() + options_.reader_patience;
  sqlite3_busy_handler(db, restart ? &Checkpointer::wait_for_others : nullptr, this);
  int pages = 0;
  const int how = restart ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE;
  const int result = sqlite3_wal_checkpoint_v2(db, nullptr, how, &pages, nullptr);
  // Busy: another process copies, or readers and writers did not end in time.
  if (result != SQLITE_OK && (result & 0xff) != SQLITE_BUSY) {
    throw_sqlite_error(db, result, "checkpoint");
  }
  if (result == SQLITE_OK && pages < 0) throw SqliteError(SQLITE_MISUSE, "checkpoint", "no log");
  return {.complete = result == SQLITE_OK, .pages = pages};
}

}  // namespace perdure::sqlite
