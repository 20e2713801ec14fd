#pragma once

#include <string>

#include "model/event.h"

namespace perdure::replay {

/// The code decides otherwise than the history says.
struct Mismatch {
  EventId position;      ///< the event where they part
  std::string expected;  ///< what history has there
  std::string actual;    ///< what the code did
  std::string hint;      ///< what to do about it

  bool operator==(const Mismatch&) const = default;
};

/// One line for people: position, expected, actual, hint.
std::string to_string(const Mismatch& mismatch);

/// What an event says, for people: "a call of activity 'charge'".
std::string describe(const HistoryEvent& event);

}  // namespace perdure::replay
