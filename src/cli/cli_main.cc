#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include <perdure/cli.h>
#include <perdure/version.h>

#include "cli/commands.h"
#include "cli/program.h"

namespace perdure {

int cli_main(int argc, char** argv, const Registry& registry) {
  try {
    const std::string name =
        argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "program";
    CLI::App app{"Commands for the orchestrations of this program", name};
    app.set_version_flag("--version", name + ", perdure " + std::string(kVersionString));
    return cli::run_program(app, cli::add_commands(app, registry), argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  } catch (...) {
    std::cerr << "an unknown error\n";
  }
  return cli::kExitStore;
}

}  // namespace perdure
