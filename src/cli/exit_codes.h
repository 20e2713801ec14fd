#pragma once

#include <span>
#include <string>
#include <string_view>

/// How every command ends, in one place: the help of each program and docs/cli.md show this table.
/// Scripts rely on the numbers; never renumber.
namespace perdure::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitNo = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitStore = 3;
inline constexpr int kExitNoSuchRun = 4;
inline constexpr int kExitTimedOut = 5;
inline constexpr int kExitStopped = 6;
inline constexpr int kExitOutput = 7;

struct ExitCode {
  int code;
  std::string_view meaning;
};

std::span<const ExitCode> exit_codes();

/// The table as the help shows it below the options.
std::string exit_codes_text();

}  // namespace perdure::cli
