#include "model/option_ranges.h"

#include <perdure/errors.h>

namespace perdure::option_ranges {

namespace {

std::string in_micros(Duration time) {
  return std::to_string(to_micros(time)) + " us";
}

}  // namespace

void refuse(const std::string& field, const std::string& range, const std::string& is) {
  throw InvalidArgument(field + " must be " + range + ", but it is " + is);
}

void check_count(const std::string& field, long long value, long long least, long long most) {
  if (value >= least && value <= most) return;
  refuse(field, std::to_string(least) + " to " + std::to_string(most), std::to_string(value));
}

void check_size(const std::string& field, std::size_t value, std::size_t least, std::size_t most) {
  if (value >= least && value <= most) return;
  refuse(field, std::to_string(least) + " to " + std::to_string(most), std::to_string(value));
}

void check_time(const std::string& field, Duration value, Duration least, Duration most) {
  if (value >= least && value <= most) return;
  refuse(field, in_micros(least) + " to " + in_micros(most), in_micros(value));
}

void check_fraction(const std::string& field, double value) {
  // What is no number is in no range.
  if (value >= 0.0 && value <= 1.0) return;
  refuse(field, "0 to 1", std::to_string(value));
}

}  // namespace perdure::option_ranges
