#include "cli/program.h"

#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

namespace perdure::cli {

int run_program(CLI::App& app,
                const std::map<std::string, Command>& commands,
                int argc,
                char** argv) {
  try {
    app.parse(argc, argv);
    for (const auto& [name, run] : commands) {
      if (app.got_subcommand(name)) return run();
    }
    std::cout << app.help();
    return 0;
  } catch (const CLI::Success& answer) {  // --help or --version
    return app.exit(answer);
  } catch (const CLI::ParseError& error) {
    std::cerr << app.get_name() << ": " << error.what() << "\nTry '" << app.get_name()
              << " --help'.\n";
    return kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << app.get_name() << ": " << error.what() << '\n';
    return 1;
  }
}

}  // namespace perdure::cli
