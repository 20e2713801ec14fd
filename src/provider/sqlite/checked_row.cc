#include "provider/sqlite/checked_row.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "model/ids.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

std::string join(const std::int64_t* begin, const std::int64_t* end) {
  std::string text;
  for (; begin != end; ++begin) {
    if (!text.empty()) text += '/';
    text += std::to_string(*begin);
  }
  return text;
}

}  // namespace

void throw_corrupt(std::string_view table, std::string_view key, std::string_view what) {
  throw SqliteError::corrupt_row("table " + std::string(table) + ", key " + std::string(key) +
                                 ": " + std::string(what));
}

void throw_corrupt(std::string_view table,
                   std::initializer_list<std::int64_t> key,
                   std::string_view what) {
  throw_corrupt(table, join(key.begin(), key.end()), what);
}

CheckedRow::CheckedRow(const Query& row,
                       std::string_view table,
                       std::initializer_list<std::int64_t> key)
    : row_(row), table_(table), key_parts_(key.size()) {
  PERDURE_CHECK(key.size() <= key_.size(), "a key has up to three numbers");
  std::copy(key.begin(), key.end(), key_.begin());
}

CheckedRow::CheckedRow(const Query& row, std::string_view table, std::string_view key)
    : row_(row), table_(table), text_key_(key) {}

void CheckedRow::refuse(int column, std::string_view what) const {
  const std::string key = key_parts_ == 0 ? "'" + std::string(text_key_) + "'"
                                          : join(key_.data(), key_.data() + key_parts_);
  throw_corrupt(table_, key, std::string(row_.column_name(column)) + " " + std::string(what));
}

std::int64_t CheckedRow::integer(int column) const {
  if (!row_.is_integer(column)) refuse(column, "is no integer");
  return row_.integer(column);
}

std::int64_t CheckedRow::at_least(std::int64_t least, int column) const {
  const std::int64_t value = integer(column);
  if (value < least) refuse(column, "is too small: " + std::to_string(value));
  return value;
}

int CheckedRow::small(int column) const {
  const std::int64_t value = integer(column);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    refuse(column, "is out of range: " + std::to_string(value));
  }
  return static_cast<int>(value);
}

int CheckedRow::small_count(int column) const {
  at_least(0, column);
  return small(column);
}

bool CheckedRow::flag(int column) const {
  const std::int64_t value = integer(column);
  if (value != 0 && value != 1) refuse(column, "is neither 0 nor 1: " + std::to_string(value));
  return value == 1;
}

double CheckedRow::real(int column) const {
  if (!row_.is_real(column) && !row_.is_integer(column)) refuse(column, "is no number");
  return row_.real(column);
}

std::optional<TimePoint> CheckedRow::optional_time(int column) const {
  if (row_.is_null(column)) return std::nullopt;
  return time(column);
}

std::string CheckedRow::text(int column) const {
  if (!row_.is_text(column) && !row_.is_null(column)) refuse(column, "is no text");
  return row_.text(column);
}

std::string CheckedRow::name(int column) const {
  std::string value = text(column);
  if (!check_id({}, value).ok()) refuse(column, "is no valid name");
  return value;
}

Failure CheckedRow::failure(int column) const {
  Failure failure;
  failure.type = text(column);
  failure.message = text(column + 1);
  failure.retryable = flag(column + 2);
  failure.details = text(column + 3);
  return failure;
}

}  // namespace perdure::sqlite
