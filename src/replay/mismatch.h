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

/// What to do about it, by what was found.
inline constexpr const char* kChangedCodeHint =
    "The code was changed under a running instance: keep the old path behind patched(id), or "
    "register the new code as a new version.";
inline constexpr const char* kNotDeterministicHint =
    "The code was changed under a running instance: keep the old path behind patched(id), or "
    "register the new code as a new version. If the code was not changed, it is not "
    "deterministic: time, randomness and ids must come from the context, and no order may depend "
    "on addresses or hashes.";
inline constexpr const char* kRemovedCommandHint =
    "A command was removed, or the code returns earlier than it did: keep the old path behind "
    "patched(id), or register the new code as a new version.";
inline constexpr const char* kForeignHistoryHint =
    "The options of a call were changed under a running instance, or the history is damaged: keep "
    "the old path behind patched(id), or register the new code as a new version.";

/// One line for people: position, expected, actual, hint.
std::string to_string(const Mismatch& mismatch);

/// What an event says, for people: "a call of activity 'charge'".
std::string describe(const HistoryEvent& event);

}  // namespace perdure::replay
