#include "provider/sqlite/commit_mark.h"

#include <chrono>

#include "base/random.h"

namespace perdure::sqlite {

namespace {

// Far apart, so that no row is removed that somebody will still trust.
constexpr std::chrono::hours kRemovedAfter{48};
constexpr std::chrono::hours kTrustedFor{1};

}  // namespace

CommitMark::CommitMark() : writer_(static_cast<std::int64_t>(SystemRandom().next() >> 2U) + 1) {}

void CommitMark::write(Connection& db, TimePoint now) {
  if (!cleaned_) {
    cleaned_ = true;
    db.run(Sql::kDropOldMarks, writer_, now - kRemovedAfter);
  }
  db.run(Sql::kWriteMark, writer_, ++mark_, now);
  written_at_ = now;
}

std::optional<bool> CommitMark::landed(Connection& db, TimePoint now) const {
  if (now - written_at_ > kTrustedFor) return std::nullopt;
  Query row = db.query(Sql::kReadMark, writer_);
  if (!row.next()) return false;
  if (!row.is_integer(0)) return std::nullopt;
  return row.integer(0) == mark_;
}

}  // namespace perdure::sqlite
