#include <string>

#include <CLI/CLI.hpp>

#include <perdure/version.h>

#include "cli/bench/canceled_worker.h"
#include "cli/bench/holder.h"
#include "cli/bench_command.h"
#include "cli/bench_holder_command.h"
#include "cli/bench_worker_command.h"
#include "cli/commands.h"
#include "cli/demo/demo_command.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  CLI::App app{"Perdure, a durable execution engine", "perdure"};
  app.set_version_flag("--version", "perdure " + std::string(perdure::kVersionString));
  perdure::cli::Commands commands = perdure::cli::add_commands(app, {});
  commands["bench"] = perdure::cli::add_bench(app);
  commands[perdure::bench::kHolderCommand] = perdure::cli::add_bench_holder(app);
  commands[perdure::bench::kCanceledWorkerCommand] = perdure::cli::add_bench_worker(app);
  commands["demo"] = perdure::cli::add_demo(app);
  return perdure::cli::run_program(app, commands, argc, argv);
}
