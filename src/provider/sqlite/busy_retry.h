#pragma once

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

/// Calls `fn` again while it fails as busy; after `patience` the failure is thrown on. For steps
/// that SQLite gives up at once whatever the busy timeout says: the change of the journal mode, the
/// first look at a store that another process is just making.
template <class Fn>
auto retry_while_busy(std::chrono::milliseconds patience, Fn&& fn) {
  constexpr std::chrono::milliseconds kPause{5};
  const auto end = steady_now() + patience;
  for (;;) {
    try {
      return fn();
    } catch (const SqliteError& error) {
      if (!error.is_busy() || steady_now() >= end) throw;
    }
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace perdure::sqlite
