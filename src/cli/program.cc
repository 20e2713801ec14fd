#include "cli/program.h"

#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

#include <perdure/errors.h>

#include "cli/printable.h"
#include "cli/standard_streams.h"

namespace perdure::cli {

namespace {

int refuse(const std::string& who, const std::exception& error, int code) {
  std::cerr << who << ": " << printable_lines(error.what()) << '\n';
  return code;
}

int run_command(const std::string& who, const Command& command) {
  try {
    return command();
  } catch (const CLI::Error&) {
    throw;
  } catch (const InvalidArgument& error) {
    return refuse(who, error, kExitUsage);
  } catch (const NotFound& error) {
    return refuse(who, error, kExitNoSuchRun);
  } catch (const UnknownHandler& error) {
    return refuse(who, error, kExitNoSuchRun);
  } catch (const Conflict& error) {
    return refuse(who, error, kExitNo);
  } catch (const std::exception& error) {
    return refuse(who, error, kExitStore);
  }
}

int parse_and_run(CLI::App& app, const Commands& commands, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    for (const auto& [name, command] : commands) {
      if (app.got_subcommand(name)) return run_command(app.get_name() + " " + name, command);
    }
    std::cout << app.help();
    return kExitDone;
  } catch (const CLI::Success& answer) {  // --help or --version
    return app.exit(answer);
  } catch (const CLI::Error& error) {
    const auto given = app.get_subcommands();
    const std::string name =
        app.get_name() + (given.empty() ? "" : " " + given.front()->get_name());
    std::cerr << name << ": " << printable_lines(error.what()) << "\nTry '" << name
              << " --help'.\n";
    return kExitUsage;
  }
}

}  // namespace

int run_program(CLI::App& app, const Commands& commands, int argc, char** argv) {
  StandardStreams streams;
  return streams.finish(parse_and_run(app, commands, argc, argv));
}

}  // namespace perdure::cli
