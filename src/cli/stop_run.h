#pragma once

#include <string>
#include <string_view>

#include <perdure/client.h>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// Stopping one run, by cancel or terminate.
namespace perdure::cli {

/// What CLI11 fills in.
struct StopInput {
  std::string provider;
  std::string id;
  std::string reason = "asked for on the command line";
  std::string request_id;
  bool json = false;
};

/// `input` must live as long as the command. Answers the option of the id, which the caller may
/// require.
CLI::Option* add_stop_options(CLI::App& command, StopInput& input);

using Stop = CancelResult (Client::*)(std::string_view, std::string_view, std::string_view) const;

/// Stops the run and tells what became of it; the exit code.
int stop_run(const StopInput& input, Stop stop);

}  // namespace perdure::cli
