#pragma once

#include <string>
#include <vector>

#include <perdure/run_list.h>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// The options that choose runs, the same for every command that has them.
namespace perdure::cli {

/// What CLI11 fills in.
struct FilterInput {
  RunFilter filter;
  std::vector<std::string> statuses;
  std::string since;
  std::string until;
};

/// `input` must live as long as the command. Answers the options that were added.
std::vector<CLI::Option*> add_filter_options(CLI::App& command, FilterInput& input);

/// What was asked for, durations counted back from `now`. Throws InvalidArgument that names the
/// option.
RunFilter read_filter(const FilterInput& input, TimePoint now);

}  // namespace perdure::cli
