#pragma once

#include <map>
#include <string>

#include <perdure/perdure.h>

/// An orchestration whose handlers wait in every way there is.
namespace perdure::test {

/// Takes signals "deliver" (a number) and "season" (a word), updates "cook", "taste" and "guess"
/// (numbers), the last canceled with the run, and the query "size". Main ends before the handlers,
/// once one delivery was taken.
inline constexpr Orchestration<std::string(int)> handler_sink{"handler_sink"};

void add_handler_sink(Registry& registry);

/// How many awaits of handlers the code has come to, by kind, since the last call.
std::map<std::string, int> take_handler_await_counts();

}  // namespace perdure::test
