#pragma once

#include <cstdint>
#include <string>

#include "cli/bench/cancel_board.h"
#include "cli/bench/held_runs.h"

namespace perdure::bench {

/// How the program is called to be the process with the workers of `bench cancel --processes 2`.
inline constexpr const char* kCanceledWorkerCommand = "bench-canceled-worker";

/// What that process is told.
struct CanceledWorker {
  std::string url;
  std::int64_t slots = 1;
  std::int64_t handlers = 1;        ///< in all, one after the other
  int board = -1;                   ///< descriptor of the CancelBoard for them, inherited
  bool drop_notifications = false;  ///< workers have to ask what became of their claims
};

/// The handler whose cancel is measured: holds its thread until it is told to stop, and notes on
/// the board when it began and when it woke.
HeldHandler held_until_canceled(std::shared_ptr<CancelBoard> board);

/// The process itself: serves the activities of held runs, and no orchestration. Writes one line to
/// standard output: "serving", or what is wrong. Ends this process when standard input ends;
/// otherwise never returns.
[[noreturn]] void serve_canceled(const CanceledWorker& told);

}  // namespace perdure::bench
