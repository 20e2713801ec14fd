#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "provider/sqlite/connection.h"

namespace perdure::sqlite {

/// The witness of a group: a row of the writer in `writer_marks` that gets a new number in the same
/// transaction. After a commit that failed the row tells whether the group is in the store. One
/// small row per writer; those of writers that are long gone are removed by later ones.
/// Threading: that of the connection.
class CommitMark {
 public:
  CommitMark();

  /// Writes the next number; in the transaction of the group.
  void write(Connection& db, TimePoint now);

  /// Whether the number written last is in the store; nullopt when that was so long ago that the
  /// row may have been removed, or when the row cannot be read.
  std::optional<bool> landed(Connection& db, TimePoint now) const;

 private:
  const std::int64_t writer_;
  std::int64_t mark_ = 0;
  TimePoint written_at_{};
  bool cleaned_ = false;
};

}  // namespace perdure::sqlite
