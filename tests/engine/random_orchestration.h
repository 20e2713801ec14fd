#pragma once

#include <cstdint>

#include <perdure/perdure.h>

/// Orchestrations made up from a seed.
namespace perdure::test {

/// Runs the program of its input. Input: seed * kLives + number of the life, from 0.
inline constexpr Orchestration<int(std::int64_t)> random_run{"random_run"};
inline constexpr std::int64_t kLives = 3;

/// Everything that a program calls or waits for inside a shield has a name that begins so; what
/// stands outside has not.
inline constexpr std::string_view kShieldedPrefix = "s_";

void add_random_run(Registry& registry);

/// What side effects read: changes with every read and is not the same in a replay unless set so.
void set_outside_world(std::int64_t value);

}  // namespace perdure::test
