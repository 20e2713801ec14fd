#pragma once

#include <array>
#include <iosfwd>
#include <set>
#include <string>

#include "cli/replay_result.h"

namespace perdure::cli {

/// Writes results as they come, for people or one JSON object to a line, and counts them.
/// One thread.
class ReplayPrinter {
 public:
  /// `out` must outlive it.
  ReplayPrinter(std::ostream& out, bool json) : out_(out), json_(json) {}

  void add(const ReplayResult& result);
  /// The last line: how many of each kind.
  void finish();
  /// Of all results; see <perdure/cli.h>.
  int exit_code() const;

 private:
  static constexpr std::size_t kKinds = 5;

  std::size_t count(ReplayResult::Kind kind) const {
    return counts_[static_cast<std::size_t>(kind)];
  }

  std::ostream& out_;
  const bool json_;
  std::array<std::size_t, kKinds> counts_{};
  std::set<std::string> runs_;
};

}  // namespace perdure::cli
