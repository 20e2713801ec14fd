#pragma once

#include <chrono>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <sys/types.h>
#include <thread>

#include "base/clock.h"

/// Processes that are no children of the test, watched from outside.
namespace perdure::test {

/// Until it holds; std::runtime_error when a minute was not enough.
inline void wait_until(const std::function<bool()>& holds, const std::string& what) {
  const auto until = steady_now() + std::chrono::seconds(60);
  while (!holds()) {
    if (steady_now() >= until) throw std::runtime_error("waited in vain until " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// The pid in this file, when it is there.
inline pid_t wait_for_pid(const std::string& path) {
  pid_t pid = 0;
  wait_until([&] { return static_cast<bool>(std::ifstream(path) >> pid); }, path + " is written");
  return pid;
}

/// 'R', 'S', 'Z' ..; 0: there is none.
inline char state_of(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) return line.at(line.find_first_not_of(" \t", 6));
  }
  return 0;
}

/// A zombie that nobody waits for counts as gone: it runs nothing.
inline bool is_gone(pid_t pid) {
  const char state = state_of(pid);
  return state == 0 || state == 'Z' || state == 'X';
}

}  // namespace perdure::test
