#include <string>

#include <CLI/CLI.hpp>

#include <perdure/version.h>

#include "cli/bench/holder.h"
#include "cli/bench_command.h"
#include "cli/bench_holder_command.h"
#include "cli/demo/demo_command.h"
#include "cli/program.h"
#include "cli/replay_command.h"

int main(int argc, char** argv) {
  CLI::App app{"Perdure, a durable execution engine", "perdure"};
  app.set_version_flag("--version", "perdure " + std::string(perdure::kVersionString));
  const perdure::cli::Command bench = perdure::cli::add_bench(app);
  const perdure::cli::Command demo = perdure::cli::add_demo(app);
  const perdure::cli::Command holder = perdure::cli::add_bench_holder(app);
  const perdure::cli::Command replay = perdure::cli::add_replay(app, {});
  return perdure::cli::run_program(app,
                                   {{"bench", bench},
                                    {perdure::bench::kHolderCommand, holder},
                                    {"demo", demo},
                                    {"replay", replay}},
                                   argc,
                                   argv);
}
