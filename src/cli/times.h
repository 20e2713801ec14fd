#pragma once

#include <string>
#include <string_view>

#include "base/time.h"

/// Times and durations as people write and read them. Pure, but for the time zone of the process.
namespace perdure::cli {

/// A whole number and a unit: 500ms, 30s, 5m, 2h, 7d; at most 365d. Throws InvalidArgument that
/// names `field`.
Duration parse_duration(std::string_view field, const std::string& text);

/// A moment: a duration is so long before `now`; otherwise 2026-11-16, 2026-11-16T06:14 or
/// 2026-11-16T06:14:10 (also with a blank for the T), in local time, or with a Z at its end in
/// UTC. Throws InvalidArgument that names `field`.
TimePoint parse_moment(std::string_view field, const std::string& text, TimePoint now);

/// "2026-11-16 06:14:10", in local time.
std::string local_time(TimePoint time);

/// "12s ago", "3m ago", "now", "in 5m".
std::string age(TimePoint time, TimePoint now);

/// "12ms", "3.4s", "3m 4s", "2h 5m", "3d 4h".
std::string span(Duration duration);

}  // namespace perdure::cli
