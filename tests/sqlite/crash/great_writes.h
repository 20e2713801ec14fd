#pragma once

#include <string>

#include "tests/sqlite/crash/world.h"

namespace perdure::sqlite::crash {

/// Runs of so many are more than a log may hold.
inline constexpr int kGreatRuns = 80;

/// Starts great runs, so that the log is copied again and again, and notes each answer in the
/// AnswerFile. `dies_at` 1 and more: the process is killed at that change of the database file,
/// which only checkpoints make. With a reader that keeps its snapshot the log gets so long that the
/// writer is held for it.
void write_great_runs(const std::string& path,
                      Durability durability,
                      int dies_at,
                      bool with_reader = false);

/// Id of one of them.
inline std::string great_run(std::size_t number) {
  return "great " + std::to_string(number);
}

}  // namespace perdure::sqlite::crash
