#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "provider/sqlite/connection.h"

namespace perdure::sqlite {

/// The registration that the plain statements of a limit write into locks and claims.
inline constexpr std::int64_t kLimitEpoch = 1;

/// How many rows the tables of a turn hold.
struct RowCounts {
  std::int64_t instances = 0;
  std::int64_t executions = 0;
  std::int64_t history = 0;
  std::int64_t messages = 0;
  std::int64_t work = 0;
  std::int64_t locks = 0;   ///< instances that are locked
  std::int64_t events = 0;  ///< sum of `last_event` of the executions

  bool operator==(const RowCounts&) const = default;
};

std::string to_string(const RowCounts& counts);

/// Throws SqliteError.
RowCounts count_rows(Connection& db);
/// Of the store at `path`, by a connection of its own.
Result<RowCounts> count_rows(const std::string& path);

/// Ok when they are equal; otherwise Corrupt that says who counted and names both.
Status compare_rows(const std::string& who, const RowCounts& found, const RowCounts& expected);

/// Aborts unless a statement changed as many rows as it should have.
void expect_changed(std::int64_t changed, std::int64_t expected, const char* doing);

}  // namespace perdure::sqlite
