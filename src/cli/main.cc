#include <exception>
#include <iostream>
#include <string>

#include <CLI/CLI.hpp>

#include <perdure/version.h>

#include "cli/bench_command.h"

namespace {

constexpr int kExitUsage = 2;

int run(int argc, char** argv) {
  CLI::App app{"Perdure, a durable execution engine", "perdure"};
  app.set_version_flag("--version", "perdure " + std::string(perdure::kVersionString));
  const perdure::cli::Command bench = perdure::cli::add_bench(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answer) {  // --help or --version
    return app.exit(answer);
  } catch (const CLI::ParseError& error) {
    std::cerr << "perdure: " << error.what() << "\nTry 'perdure --help'.\n";
    return kExitUsage;
  }
  if (app.got_subcommand("bench")) return bench();
  std::cout << app.help();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "perdure: " << error.what() << '\n';
    return 1;
  }
}
