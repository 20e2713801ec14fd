#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <perdure/registry.h>

namespace perdure {

struct ReplayerOptions {
  /// Commands with other arguments than recorded (an input, a queue, a due time) are a mismatch
  /// too; otherwise they are warnings.
  bool strict = false;
};

/// Where today's code decides otherwise than the history says.
struct ReplayMismatch {
  std::int64_t position = 0;  ///< id of the event where they part
  std::string expected;       ///< what history has there
  std::string actual;         ///< what the code did
  std::string hint;           ///< what to do about it
};

/// What a replay found.
struct ReplayReport {
  bool ok = false;  ///< the code makes the same decisions; there may be warnings
  std::string orchestration;
  std::string version;
  std::string instance_id;
  std::size_t events = 0;  ///< of the history
  std::optional<ReplayMismatch> mismatch;
  std::vector<std::string> warnings;
};

/// A few lines for people: which run, the mismatch, the warnings.
std::string to_string(const ReplayReport& report);

/// Runs today's code against histories of real runs, for a test of the program's own: code that
/// parts from a history would block every run that is in the same place.
///
///     pd::Replayer replayer(registry());
///     for (const auto& file : std::filesystem::directory_iterator("histories")) {
///       const pd::ReplayReport report = replayer.check_file(file);
///       EXPECT_TRUE(report.ok) << to_string(report);
///     }
///
/// Histories are JSON text in the format of docs/history-json.md. Nothing is stored, no activity
/// runs, no time passes. Threading: any thread; checks share nothing but the registry.
class Replayer {
 public:
  explicit Replayer(Registry registry, ReplayerOptions options = {});

  /// InvalidArgument when the text is no such history (the message names the event and the field),
  /// or when its orchestration is not registered in that version.
  ReplayReport check(std::string_view history_json) const;
  /// The same for a file; messages begin with its path.
  ReplayReport check_file(const std::filesystem::path& file) const;

 private:
  Registry registry_;
  ReplayerOptions options_;
};

}  // namespace perdure
