#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "model/codes.h"

struct sqlite3_stmt;

namespace perdure::sqlite {

/// A place in a connection's cache of prepared statements.
struct CachedStatement {
  sqlite3_stmt* statement = nullptr;
  bool busy = false;  ///< a Query is using it
};

/// One execution of a statement. Move-only. Gives the statement back, reset and without bindings,
/// when destroyed; must not outlive its connection. Columns count from 0 and may be read after
/// `next()` has answered true.
class Query {
 public:
  /// Uses `cached` and marks it busy.
  Query(CachedStatement& cached, std::string_view name);
  /// Owns `statement` and finalizes it. `name` may be empty: the text of the statement is its name.
  Query(sqlite3_stmt* statement, std::string_view name);
  Query(Query&& other) noexcept;
  Query& operator=(Query&&) = delete;
  ~Query();

  /// Goes to the next row; false when there is none any more. Throws SqliteError.
  bool next();

  std::int64_t integer(int column) const;
  bool flag(int column) const { return integer(column) != 0; }
  double real(int column) const;
  /// Empty for NULL.
  std::string text(int column) const;
  TimePoint time(int column) const { return time_from_micros(integer(column)); }
  bool is_null(int column) const;
  /// Whether the stored value really is an integer, a text: for rows that may be damaged.
  bool is_integer(int column) const;
  bool is_text(int column) const;
  bool is_real(int column) const;
  std::string_view column_name(int column) const;

  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<TimePoint> optional_time(int column) const;
  std::optional<std::string> optional_text(int column) const;

  /// A surrogate key or another strong id: `row.id<InstanceKey>(0)`.
  template <class Id>
  Id id(int column) const {
    return Id{integer(column)};
  }
  /// A stored code; nullopt for a number that this version does not know.
  template <StoredCode E>
  std::optional<E> code(int column) const {
    return from_code<E>(integer(column));
  }

  sqlite3_stmt* statement() const { return statement_; }

 private:
  sqlite3_stmt* statement_;
  CachedStatement* cached_ = nullptr;  // null: the statement is ours
  std::string_view name_;
  bool done_ = false;
};

}  // namespace perdure::sqlite
