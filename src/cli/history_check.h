#pragma once

#include <string>
#include <string_view>

#include <perdure/registry.h>
#include <perdure/replayer.h>

#include "cli/replay_result.h"
#include "replayer/history_json.h"

namespace perdure::cli {

/// Runs a program's code against single histories. Threading: any thread.
class HistoryCheck {
 public:
  HistoryCheck(const Registry& registry, const ReplayerOptions& options)
      : registry_(registry), replayer_(registry, options) {}

  /// `asked_for`: code that is not registered is not passed over as that of another program.
  ReplayResult check(const replayer::RecordedHistory& history, bool asked_for) const;
  /// A file of docs/history-json.md.
  ReplayResult check_file(const std::string& file) const;

 private:
  ReplayResult check(const replayer::RecordedHistory& history,
                     std::string_view text,
                     bool asked_for) const;

  Registry registry_;
  Replayer replayer_;
};

}  // namespace perdure::cli
