#include "cli/times.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>

#include <perdure/errors.h>

namespace perdure::cli {

namespace {

using namespace std::chrono_literals;

constexpr Duration kDay = 24h;
constexpr Duration kLongest = 365 * kDay;

struct Unit {
  std::string_view name;
  Duration length;
};

constexpr std::array kUnits = {
    Unit{"ms", 1ms}, Unit{"s", 1s}, Unit{"m", 1min}, Unit{"h", 1h}, Unit{"d", kDay}};

/// Negative when the text is no duration.
Duration read_duration(std::string_view text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || number < 0) return -1us;
  const std::string_view rest = text.substr(static_cast<std::size_t>(read.ptr - text.data()));
  for (const Unit& unit : kUnits) {
    if (rest != unit.name) continue;
    return number <= kLongest / unit.length ? number * unit.length : -1us;
  }
  return -1us;
}

/// False unless the whole text is of this form and names a day that exists.
bool read_time(const std::string& text, const char* form, bool utc, TimePoint& time) {
  std::tm fields{};
  const char* const end = ::strptime(text.c_str(), form, &fields);
  if (end == nullptr || *end != '\0') return false;
  // A year of two digits is no year of ours.
  constexpr int kOldestYear = 70;
  if (fields.tm_year < kOldestYear) return false;
  const int day = fields.tm_mday;
  fields.tm_isdst = -1;
  const std::time_t seconds = utc ? ::timegm(&fields) : std::mktime(&fields);
  time = TimePoint(std::chrono::seconds(seconds));
  return fields.tm_mday == day;
}

std::string with_unit(std::int64_t number, const char* unit) {
  return std::to_string(number) + unit;
}

/// The largest unit alone.
std::string roughly(Duration duration) {
  if (duration >= kDay) return with_unit(duration / kDay, "d");
  if (duration >= 1h) return with_unit(duration / 1h, "h");
  if (duration >= 1min) return with_unit(duration / 1min, "m");
  return with_unit(duration / 1s, "s");
}

}  // namespace

Duration parse_duration(std::string_view field, const std::string& text) {
  const Duration duration = read_duration(text);
  if (duration >= Duration::zero()) return duration;
  throw InvalidArgument(std::string(field) + ": '" + text +
                        "' is no duration; write 500ms, 30s, 5m, 2h or 7d, at most 365d");
}

TimePoint parse_moment(std::string_view field, const std::string& text, TimePoint now) {
  const Duration before = read_duration(text);
  if (before >= Duration::zero()) return now - before;
  TimePoint time;
  const bool utc = !text.empty() && text.back() == 'Z';
  const std::string day_and_time = utc ? text.substr(0, text.size() - 1) : text;
  for (const char* form :
       {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    if (read_time(day_and_time, form, utc, time)) return time;
  }
  throw InvalidArgument(std::string(field) + ": '" + text +
                        "' is no time; write 2h for two hours ago, 2026-11-16, 2026-11-16T06:14:10 "
                        "in local time, or with a Z at its end in UTC");
}

std::string local_time(TimePoint time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time.time_since_epoch());
  const auto raw = static_cast<std::time_t>(seconds.count());
  std::tm fields{};
  std::array<char, 64> text{};
  if (::localtime_r(&raw, &fields) == nullptr) return to_string(time);
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &fields);
  return text.data();
}

std::string age(TimePoint time, TimePoint now) {
  const Duration past = now - time;
  if (past > -1s && past < 1s) return "now";
  return past > 0s ? roughly(past) + " ago" : "in " + roughly(-past);
}

std::string span(Duration duration) {
  if (duration < 1s) return with_unit(duration / 1ms, "ms");
  if (duration < 1min) {
    return std::to_string(duration / 1s) + "." + with_unit(duration % 1s / 100ms, "s");
  }
  if (duration < 1h) return roughly(duration) + " " + with_unit(duration % 1h / 1s % 60, "s");
  if (duration < kDay) return roughly(duration) + " " + with_unit(duration % 1h / 1min, "m");
  return roughly(duration) + " " + with_unit(duration % kDay / 1h, "h");
}

}  // namespace perdure::cli
