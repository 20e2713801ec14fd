#include "cli/demo/demo.h"

#include <deque>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <unistd.h>

#include <perdure/version.h>

#include "cli/demo/acts.h"
#include "cli/demo/interrupts.h"
#include "cli/demo/narrator.h"
#include "cli/demo/stage.h"
#include "cli/demo/temp_folder.h"

namespace perdure::demo {

namespace {

constexpr int kExitSignal = 128;
constexpr std::size_t kLogLines = 10;

std::string last_lines(const std::filesystem::path& file) {
  std::deque<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
    if (lines.size() > kLogLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text.empty() ? "" : "\nThe log of the workers ends with:" + text;
}

/// Where everything lies, and what becomes of it.
struct Place {
  std::string url;
  std::filesystem::path log;
  bool stays = false;
  std::string removal;  ///< the command that removes what stays; empty when that is not ours
};

void show_rest(Narrator& narrator, const Place& place) {
  narrator.title("Next");
  if (place.stays) {
    narrator.text("  The store stays. Look at it:");
    narrator.text("    perdure list --provider " + place.url);
    narrator.text("    perdure history order-1002 --provider " + place.url);
    if (!place.removal.empty()) narrator.text("  Remove it: " + place.removal);
  } else {
    narrator.text("  perdure demo --keep   the same, and the store stays to be looked at");
  }
  narrator.text("  examples/             one program for each feature, in the sources");
  narrator.text("  docs/guide.md         how to write your own");
}

void perform(Narrator& narrator, const Interrupts& interrupts, const Place& place) {
  narrator.title("Perdure " + std::string(kVersionString) + ", a durable execution engine");
  narrator.text("Each order is a coroutine: charge, pack, ship. What is done is stored in");
  narrator.text(place.url + "; the work runs in worker processes.");
  narrator.text("");
  Stage stage(narrator, interrupts, place.url, place.log);
  const std::string survived = survive_a_kill(stage);
  narrator.text("");
  const std::string canceled = cancel_an_order(stage);
  stage.stop_worker();
  narrator.text("");
  narrator.title("Seen in " + narrator.elapsed() + ", and checked against the store");
  narrator.text("  " + survived);
  narrator.text("  " + canceled);
  narrator.text("");
}

void run(const Options& options, std::string& left) {
  const Interrupts interrupts;
  Narrator narrator(std::cout, ::isatty(STDOUT_FILENO) == 1);
  TempFolder folder;
  Place place{.url = "sqlite:" + (folder.path() / "orders.db").string(),
              .log = folder.path() / "workers.log",
              .stays = options.keep || !options.provider.empty()};
  if (!options.provider.empty()) {
    place.url = options.provider;
    left = "the store stays: " + place.url;
  } else if (options.keep) {
    folder.keep();
    place.removal = "rm -r " + folder.path().string();
    left = "the store stays in " + folder.path().string();
  }
  try {
    perform(narrator, interrupts, place);
  } catch (const Interrupted&) {
    throw;
  } catch (const OutputClosed&) {
    throw;
  } catch (const std::exception& error) {
    throw std::runtime_error(error.what() + last_lines(place.log));
  }
  show_rest(narrator, place);
}

}  // namespace

int run_demo(const Options& options) {
  std::string left = "nothing is left behind";
  try {
    run(options, left);
    return 0;
  } catch (const Interrupted& interrupted) {
    std::cerr << "\nperdure demo: interrupted; " << left << '\n';
    return kExitSignal + interrupted.signal();
  } catch (const std::exception& error) {
    std::cerr << "\nperdure demo: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace perdure::demo
