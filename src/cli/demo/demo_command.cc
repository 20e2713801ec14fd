#include "cli/demo/demo_command.h"

#include <memory>
#include <string>
#include <sys/types.h>

#include <CLI/CLI.hpp>

#include "cli/demo/demo.h"
#include "cli/demo/worker_main.h"

namespace perdure::cli {

namespace {

struct Input {
  demo::Options options;
  pid_t serve_for = 0;
};

/// Two processes share the store.
std::string check_file(const std::string& url) {
  return url.starts_with("sqlite:") && !url.starts_with("sqlite::memory:")
             ? ""
             : "the demo wants a file that two processes can open: sqlite:PATH";
}

}  // namespace

Command add_demo(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("demo", "See an order survive a kill and another one be canceled");
  auto input = std::make_shared<Input>();
  auto* const provider =
      command
          ->add_option(
              "--provider", input->options.provider, "Use this store, sqlite:PATH; it stays")
          ->check(check_file);
  command->add_flag("--keep", input->options.keep, "Leave the temporary store");
  // How the demo starts its workers.
  command->add_option("--serve-for", input->serve_for)->group("")->needs(provider);
  return [input] {
    if (input->serve_for != 0) {
      return demo::worker_main(input->options.provider, input->serve_for);
    }
    return demo::run_demo(input->options);
  };
}

}  // namespace perdure::cli
