#include "client/cursors.h"

#include <array>
#include <charconv>

#include <perdure/errors.h>

namespace perdure::client {

namespace {

template <std::size_t N>
std::array<std::int64_t, N> read_numbers(const std::string& text) {
  std::array<std::int64_t, N> numbers{};
  const char* at = text.data();
  const char* const end = at + text.size();
  bool good = true;
  for (std::size_t i = 0; i < N && good; ++i) {
    if (i > 0) good = at != end && *at++ == '.';
    const auto read = std::from_chars(at, end, numbers[i]);
    good = good && read.ec == std::errc();
    at = read.ptr;
  }
  if (good && at == end) return numbers;
  throw InvalidArgument("after: '" + text + "' is not the `next` of an earlier answer");
}

}  // namespace

std::string write_cursor(const ListCursor& cursor) {
  return std::to_string(cursor.last.value);
}

std::string write_cursor(const BulkCursor& cursor) {
  return std::to_string(to_micros(cursor.completed_at)) + "." +
         std::to_string(cursor.instance.value) + "." + std::to_string(cursor.execution.value);
}

ListCursor read_list_cursor(const std::string& text) {
  return {InstanceKey{read_numbers<1>(text)[0]}};
}

BulkCursor read_bulk_cursor(const std::string& text) {
  const auto numbers = read_numbers<3>(text);
  return {time_from_micros(numbers[0]), InstanceKey{numbers[1]}, ExecutionNo{numbers[2]}};
}

}  // namespace perdure::client
