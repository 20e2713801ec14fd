#pragma once

#include <string>

#include "runtime/settings.h"

namespace perdure::cli {

/// A setting as people read it.
struct SettingText {
  std::string name;      ///< "workers[].queue"
  std::string standard;  ///< its default: "30 s"
  std::string range;     ///< "1 ms to 365 d", "2 x process_heartbeat_interval to 365 d"
  std::string meaning;   ///< with what zero means
};

/// Pure.
SettingText text_of(const runtime::Setting& setting);

}  // namespace perdure::cli
