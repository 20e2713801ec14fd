#include "provider/sqlite/bench/queue_fill.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include "base/clock.h"
#include "provider/sqlite/bench/row_writer.h"
#include "provider/sqlite/options.h"
#include "provider/sqlite/sqlite_error.h"
#include "provider/sqlite/transaction.h"
#include "provider/sqlite/write_connection.h"

namespace perdure::sqlite {

namespace {

constexpr std::int64_t kRowsAtOnce = 50'000;

class Filler {
 public:
  explicit Filler(const std::string& path)
      : db_(open_for_writing(path, Durability::kRelaxed)),
        rows_(*db_),
        now_(system_clock().now()),
        tomorrow_(now_ + std::chrono::hours(24)) {
    // Nothing is at stake until it is filled.
    db_->exec("PRAGMA journal_mode = OFF");
    db_->exec("PRAGMA synchronous = OFF");
  }

  void add(std::int64_t count, const std::string& name, TimePoint due) {
    NewWork work;
    work.queue = RowWriter::kQueue;
    work.name = name;
    work.input = R"({"amount":1999})";
    while (count > 0) {
      Transaction transaction(*db_);
      for (std::int64_t i = 0; i < std::min(count, kRowsAtOnce); ++i) {
        const std::int64_t key = rows_.add_instance(name, now_);
        rows_.add_message(key, now_, due);
        work.priority = static_cast<int>(i % kFillPriorities);
        rows_.add_work(key, 1, work, now_, due);
      }
      transaction.commit();
      count -= kRowsAtOnce;
    }
  }

  void add_locked(std::int64_t messages) {
    Transaction transaction(*db_);
    db_->run(Sql::kInsertProcess, "elsewhere", 1, nullptr, now_);
    const std::int64_t epoch = db_->last_insert_id();
    const std::int64_t key = rows_.add_instance(kServedName, now_);
    for (std::int64_t i = 0; i < messages; ++i) rows_.add_message(key, now_, now_);
    db_->run(Sql::kLockInstance, key, epoch, 1, tomorrow_, now_, now_);
    transaction.commit();
  }

  TimePoint now() const { return now_; }
  TimePoint tomorrow() const { return tomorrow_; }

 private:
  const std::unique_ptr<Connection> db_;
  RowWriter rows_;
  const TimePoint now_;
  const TimePoint tomorrow_;
};

/// So that the disk is not busy with it while something is measured.
Status sync_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return unavailable(path + " cannot be opened");
  const int result = ::fsync(file);
  ::close(file);
  if (result != 0) return unavailable(path + " cannot be synced");
  return {};
}

}  // namespace

Status fill_queues(const std::string& path, const QueueFill& fill) {
  if (std::filesystem::exists(path)) return invalid_argument(path + " exists");
  PERDURE_RETURN_IF_ERROR(open({.path = path}));
  try {
    Filler filler(path);
    filler.add(fill.sleeping, kServedName, filler.tomorrow());
    filler.add(fill.unserved, kUnservedName, filler.now());
    if (fill.locked_messages > 0) filler.add_locked(fill.locked_messages);
    filler.add(fill.ready, kServedName, filler.now());
  } catch (const SqliteError& error) {
    return to_error(error);
  }
  return sync_file(path);
}

}  // namespace perdure::sqlite
