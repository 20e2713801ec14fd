#include "cli/bench_holder_command.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/bench/holder.h"

namespace perdure::cli {

namespace {

struct HolderInput {
  std::string url;
  std::int64_t handlers = 1;
};

}  // namespace

Command add_bench_holder(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(bench::kHolderCommand);
  command->group("");
  auto input = std::make_shared<HolderInput>();
  command->add_option("url", input->url, "The store")->required();
  command->add_option("handlers", input->handlers, "How many it holds")
      ->required()
      ->check(CLI::PositiveNumber);
  return [input]() -> int { bench::hold(input->url, input->handlers); };
}

}  // namespace perdure::cli
