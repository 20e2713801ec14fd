#pragma once

#include <cstdint>
#include <string>

#include <perdure/replayer.h>

namespace perdure::cli {

/// What became of one history.
struct ReplayResult {
  enum class Kind : std::uint8_t {
    kOk,
    kMismatch,
    kUnserved,    ///< a name of this program, but not that version; or asked for, and not served
    kSkipped,     ///< an orchestration of another program
    kUnreadable,  ///< rows that cannot be read, no such run, no history in the file
  };

  Kind kind = Kind::kOk;
  std::string file;            ///< empty: from a store
  std::int64_t execution = 0;  ///< 0: the run as a whole
  ReplayReport report;         ///< what is known of the run; with the mismatch and the warnings
  std::string problem;         ///< why it was not replayed
};

}  // namespace perdure::cli
