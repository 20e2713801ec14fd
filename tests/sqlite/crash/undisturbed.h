#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/failpoint.h"
#include "tests/sqlite/crash/operations.h"
#include "tests/sqlite/crash/store_rows.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite::crash {

/// The same operation in this process, where nothing happens to it.
struct Undisturbed {
  explicit Undisturbed(const Operation& operation) {
    const support::TempDir dir;
    const std::string path = dir.file("store.db");
    World world(path, Durability::kRelaxed);
    run = operation.prepare(world);
    before = all_rows(path);
    failpoint::set_counting(true);
    answer = run(world.store());
    failpoint::set_counting(false);
    after = all_rows(path);
    now = world.now();
  }

  Run run;
  std::string before;
  std::string after;
  Status answer;
  TimePoint now;
};

/// The points of the table whose names begin so.
inline std::vector<std::string> points_of(std::string_view family) {
  std::vector<std::string> points;
  for (const FailpointInfo& info : failpoint_table()) {
    if (info.name.starts_with(family)) points.emplace_back(info.name);
  }
  return points;
}

}  // namespace perdure::sqlite::crash
