#pragma once

#include <cstdint>

#include "model/event.h"

/// Signals and updates in a history: what `HistoryEvent::number` says of them. Pure.
namespace perdure {

/// Flags; stored, so they keep their meaning.
constexpr std::int64_t kKeptFlag = 1;    ///< a signal that nobody took
constexpr std::int64_t kJoinedFlag = 2;  ///< of one turn with the one before: main went on behind it

constexpr bool is_message(const HistoryEvent& event) {
  return event.kind == EventKind::kSignalReceived || event.kind == EventKind::kUpdateAccepted;
}

constexpr bool is_kept(const HistoryEvent& event) {
  return event.kind == EventKind::kSignalReceived && (event.number & kKeptFlag) != 0;
}

constexpr bool is_joined(const HistoryEvent& event) {
  return is_message(event) && (event.number & kJoinedFlag) != 0;
}

}  // namespace perdure
