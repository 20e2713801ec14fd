#include "provider/sqlite/readers.h"

#include <chrono>

#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

/// More idle connections than this are closed.
constexpr std::size_t kKeep = 8;

}  // namespace

Readers::Lease::~Lease() {
  try {
    if (connection_->in_transaction()) connection_->exec("ROLLBACK");
  } catch (const SqliteError&) {
    return;  // closed with the lease
  }
  std::lock_guard lock(home_.mutex_);
  if (home_.idle_.size() < kKeep) home_.idle_.push_back(std::move(connection_));
}

Readers::Lease Readers::borrow() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return {*this, std::move(connection)};
    }
  }
  auto connection = Connection::open(path_, Access::kReadOnly);
  // A reader waits only while another process recovers or checkpoints the log.
  connection->set_busy_timeout(std::chrono::seconds(5));
  return {*this, std::move(connection)};
}

}  // namespace perdure::sqlite
