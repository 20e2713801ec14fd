#pragma once

#include <perdure/registry.h>

namespace perdure {

/// The command line of a program with its own orchestrations: what `perdure` does for any store and
/// what needs the program's code. Call it from main when the program is not to work itself:
///
///     int main(int argc, char** argv) {
///       if (argc > 1) return pd::cli_main(argc, argv, registry());
///       ..
///     }
///
/// Commands:
///
///     prog replay --provider sqlite:orders.db [--id ID].. [--name NAME]
///                 [--all | --running | --ended] [--strict] [--json]
///     prog replay FILE.json.. [--strict] [--json]
///     prog list | show ID | wait ID | history ID | cancel ID | terminate ID
///     prog raise ID EVENT [JSON] | signal ID NAME [JSON] | update ID NAME [JSON]
///     prog query ID NAME [JSON]
///
/// All but `replay` are those of `perdure`: docs/cli.md has their options, what they print and all
/// exit codes.
///
/// `replay` runs today's code through histories as they are stored, and tells where it decides
/// otherwise: what to do before a deployment. It looks at every execution that is still stored, or
/// with `--running` at those that have not ended (which a deployment would block), with `--ended`
/// at the others. It never changes the store, which may be in use, and runs no activity.
/// docs/replay.md tells what it prints.
///
/// Answers the exit code; of `replay`: 0 every history agrees; 1 one does not; 2 the command line
/// is wrong; 3 the store, or something in it that was asked for, cannot be read. Of several, 1 goes
/// before 3. Results go to standard output, errors of the call to standard error. Never throws.
int cli_main(int argc, char** argv, const Registry& registry);

}  // namespace perdure
