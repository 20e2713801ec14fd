#include "cli/bench_worker_command.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/bench/canceled_worker.h"

namespace perdure::cli {

Command add_bench_worker(CLI::App& app) {
  CLI::App* const command = app.add_subcommand(bench::kCanceledWorkerCommand);
  command->group("");
  auto told = std::make_shared<bench::CanceledWorker>();
  command->add_option("url", told->url, "The store")->required();
  command->add_option("slots", told->slots, "Handlers at a time")
      ->required()
      ->check(CLI::PositiveNumber);
  command->add_option("handlers", told->handlers, "Handlers in all")
      ->required()
      ->check(CLI::PositiveNumber);
  command->add_option("board", told->board, "Descriptor of the board")
      ->required()
      ->check(CLI::NonNegativeNumber);
  command->add_option("drop", told->drop_notifications, "1: workers ask for their claims")
      ->required();
  return [told]() -> int { bench::serve_canceled(*told); };
}

}  // namespace perdure::cli
