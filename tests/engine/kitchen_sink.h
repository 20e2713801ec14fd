#pragma once

#include <map>
#include <string>

#include <perdure/perdure.h>

/// One orchestration that waits in every way there is.
namespace perdure::test {

inline constexpr Orchestration<std::string(int)> kitchen_sink{"kitchen_sink"};

void add_kitchen_sink(Registry& registry);

/// How many awaits the code has come to, by kind, since the last call.
std::map<std::string, int> take_await_counts();

}  // namespace perdure::test
