#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "model/failure.h"
#include "provider/sqlite/query.h"

namespace perdure::sqlite {

/// Throws a SqliteError that becomes Corrupt: "table T, key K: what".
[[noreturn]] void throw_corrupt(std::string_view table,
                                std::string_view key,
                                std::string_view what);
[[noreturn]] void throw_corrupt(std::string_view table,
                                std::initializer_list<std::int64_t> key,
                                std::string_view what);

/// A row that may be damaged. SQLite keeps whatever it is given in a column; what this version
/// cannot have written there is thrown as a SqliteError that becomes Corrupt and names table, key
/// and column. Refers to the query; valid for its present row.
class CheckedRow {
 public:
  /// The key has up to three numbers, as the primary key of the table.
  CheckedRow(const Query& row, std::string_view table, std::initializer_list<std::int64_t> key);
  /// The key is a text, which must outlive this object.
  CheckedRow(const Query& row, std::string_view table, std::string_view key);

  bool is_null(int column) const { return row_.is_null(column); }

  std::int64_t integer(int column) const;
  std::int64_t at_least(std::int64_t least, int column) const;
  std::int64_t count(int column) const { return at_least(0, column); }
  /// What fits into an int.
  int small(int column) const;
  int small_count(int column) const;
  bool flag(int column) const;
  double real(int column) const;
  TimePoint time(int column) const { return time_from_micros(integer(column)); }
  std::optional<TimePoint> optional_time(int column) const;
  Duration duration(int column) const { return Duration{integer(column)}; }
  /// Empty for NULL. Payloads: nobody looks inside.
  std::string text(int column) const;
  /// An id, a name, a queue: what check_id lets through.
  std::string name(int column) const;
  /// Four columns: type, message, retryable, details.
  Failure failure(int column) const;

  /// 0 means none.
  template <class Id>
  Id reference(int column) const {
    return Id{count(column)};
  }
  template <class Id>
  Id id(int column) const {
    return Id{at_least(1, column)};
  }
  template <StoredCode E>
  E code(int column) const {
    const auto value = from_code<E>(integer(column));
    if (!value) refuse(column, "holds the unknown code " + std::to_string(row_.integer(column)));
    return *value;
  }

  [[noreturn]] void refuse(int column, std::string_view what) const;

 private:
  const Query& row_;
  std::string_view table_;
  std::array<std::int64_t, 3> key_{};
  std::size_t key_parts_ = 0;
  std::string_view text_key_;
};

}  // namespace perdure::sqlite
