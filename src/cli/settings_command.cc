#include "cli/settings_command.h"

#include <iostream>
#include <memory>
#include <string_view>

#include <CLI/CLI.hpp>

#include "cli/setting_json.h"
#include "cli/setting_text.h"
#include "cli/text_table.h"
#include "runtime/settings.h"

namespace perdure::cli {

namespace {

/// What CLI11 fills in.
struct SettingsInput {
  bool json = false;
  bool markdown = false;
};

void print_settings_json() {
  OrderedJson out;
  out["settings"] = OrderedJson::array();
  for (const runtime::Setting& each : runtime::settings()) out["settings"].push_back(to_json(each));
  std::cout << one_line(out) << '\n';
}

/// The part of docs/operations.md between its marks; a test compares them.
void print_settings_markdown() {
  std::string_view group;
  for (const runtime::Setting& each : runtime::settings()) {
    if (each.group != group) {
      std::cout << (group.empty() ? "" : "\n") << "### " << each.group
                << "\n\n| setting | default | range | meaning |\n|---|---|---|---|\n";
      group = each.group;
    }
    const SettingText text = text_of(each);
    std::cout << "| `" << text.name << "` | " << text.standard << " | " << text.range << " | "
              << text.meaning << " |\n";
  }
}

void print_settings_table() {
  TextTable table({"NAME", "DEFAULT", "RANGE", "MEANING"});
  for (const runtime::Setting& each : runtime::settings()) {
    const SettingText text = text_of(each);
    table.add({text.name, text.standard, text.range, text.meaning});
  }
  table.print(std::cout);
}

int run_settings(const SettingsInput& input) {
  if (input.json) {
    print_settings_json();
  } else if (input.markdown) {
    print_settings_markdown();
  } else {
    print_settings_table();
  }
  return kExitDone;
}

}  // namespace

Command add_settings(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("settings", "What a runtime can be told: defaults, ranges, meanings");
  auto input = std::make_shared<SettingsInput>();
  CLI::Option* const json =
      command->add_flag("--json", input->json, "One JSON object: settings; times in milliseconds");
  command->add_flag("--markdown", input->markdown, "The tables of docs/operations.md")
      ->excludes(json);
  return [input] { return run_settings(*input); };
}

}  // namespace perdure::cli
