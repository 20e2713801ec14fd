#include "cli/bench/progress.h"

#include <iostream>
#include <unistd.h>

namespace perdure::bench {

namespace {

constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_) std::cerr << kEraseLine << std::flush;
}

void Progress::show(const std::string& doing) {
  if (terminal_) std::cerr << kEraseLine << doing << std::flush;
}

}  // namespace perdure::bench
