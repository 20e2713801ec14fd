#pragma once

#include <string>

#include "cli/demo/stage.h"

/// The two parts of the demo. Each shows something and then makes sure, from the store and from
/// what the workers reported, that it was so; std::runtime_error when it was not.
namespace perdure::demo {

/// Parts that are packed when an act goes on: enough to see that the step is in its midst.
inline constexpr int kPartlyPacked = 10;

/// A worker is killed in the midst of a step, another one goes on. Leaves that one running.
/// Answers what was seen, in a line.
std::string survive_a_kill(Stage& stage);

/// An order is canceled while it is packed: the work stops, the money goes back. Wants a worker.
std::string cancel_an_order(Stage& stage);

}  // namespace perdure::demo
