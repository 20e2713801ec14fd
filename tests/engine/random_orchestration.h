#pragma once

#include <cstdint>

#include <perdure/perdure.h>

/// Orchestrations made up from a seed.
namespace perdure::test {

/// Runs the program of its input. Input: seed * kLives + number of the life, from 0.
inline constexpr Orchestration<int(std::int64_t)> random_run{"random_run"};
inline constexpr std::int64_t kLives = 3;

/// Everything that a program calls or waits for inside a shield, or in a handler that a cancel does
/// not reach, has a name that begins so; what stands outside has not.
inline constexpr std::string_view kShieldedPrefix = "s_";

/// What its runs can be told and asked: numbers, which choose what the handler does.
inline constexpr Signal<std::int64_t> random_signal{"signal"};
inline constexpr Signal<std::int64_t> random_signal_of_run{"signal_of_run"};  ///< canceled with it
inline constexpr Signal<std::int64_t> plain_signal{"plain"};
inline constexpr Update<int(std::int64_t)> random_update{"update"};
inline constexpr Update<int(std::int64_t)> random_update_of_run{"update_of_run"};
/// All that the run has seen so far, in one number.
inline constexpr Query<std::string()> digest{"digest"};

void add_random_run(Registry& registry);

/// What side effects read: changes with every read and is not the same in a replay unless set so.
void set_outside_world(std::int64_t value);

}  // namespace perdure::test
