#include "cli/commands.h"

#include <CLI/CLI.hpp>

#include "cli/cancel_command.h"
#include "cli/change_commands.h"
#include "cli/history_command.h"
#include "cli/list_command.h"
#include "cli/message_commands.h"
#include "cli/replay_command.h"
#include "cli/settings_command.h"
#include "cli/show_commands.h"

namespace perdure::cli {

Commands add_commands(CLI::App& app, const Registry& registry) {
  // Taken over by every command that is added from here on.
  app.footer(exit_codes_text());
  return {
      {"list", add_list(app)},
      {"show", add_show(app)},
      {"wait", add_wait(app)},
      {"cancel", add_cancel(app)},
      {"terminate", add_terminate(app)},
      {"raise", add_raise(app)},
      {"signal", add_signal(app)},
      {"update", add_update(app)},
      {"query", add_query(app)},
      {"history", add_history(app)},
      {"replay", add_replay(app, registry)},
      {"settings", add_settings(app)},
  };
}

}  // namespace perdure::cli
