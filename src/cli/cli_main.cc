#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include <perdure/cli.h>
#include <perdure/version.h>

#include "cli/program.h"
#include "cli/replay_command.h"

namespace perdure {

int cli_main(int argc, char** argv, const Registry& registry) {
  try {
    const std::string name =
        argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "program";
    CLI::App app{"Commands for the orchestrations of this program", name};
    app.set_version_flag("--version", name + ", perdure " + std::string(kVersionString));
    const cli::Command replay = cli::add_replay(app, registry);
    return cli::run_program(app, {{"replay", replay}}, argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  } catch (...) {
    std::cerr << "an unknown error\n";
  }
  return 3;
}

}  // namespace perdure
