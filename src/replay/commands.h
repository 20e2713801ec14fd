#pragma once

#include <cstdint>
#include <string_view>

#include "model/event.h"

/// Commands: the events that the code (or the engine in its name) decides, as against those that
/// it is told. Pure.
namespace perdure::replay {

/// True for events that the code decides; the others come from outside.
bool is_command(EventKind kind);

/// True when both are the same decision: kind, name, source, id of a child, number of a scope.
bool same_command(const HistoryEvent& recorded, const HistoryEvent& made);

/// True when two same commands also have the same arguments: hash of the input, queue, due time,
/// policy of an undo, reason.
bool same_arguments(const HistoryEvent& recorded, const HistoryEvent& made);

/// 64 bits of an input, the same on every platform and in every version.
std::int64_t hash_of(std::string_view payload);

}  // namespace perdure::replay
