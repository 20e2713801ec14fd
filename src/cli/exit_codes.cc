#include "cli/exit_codes.h"

#include <array>

namespace perdure::cli {

namespace {

constexpr std::array kExitCodes = {
    ExitCode{kExitDone, "done; for wait: the run has completed"},
    ExitCode{kExitNo,
             "no: the run that was waited for failed, the one to cancel or to tell has ended or "
             "refused, a handler failed, a history does not agree, a measurement failed"},
    ExitCode{kExitUsage, "the command line is wrong; nothing was done"},
    ExitCode{kExitStore, "the store, or what was asked for in it, cannot be read or written"},
    ExitCode{kExitNoSuchRun,
             "there is no such run, or no such execution, signal, update or query of it"},
    ExitCode{kExitTimedOut, "the time has passed: the run has not ended, or not answered"},
    ExitCode{kExitStopped, "wait: the run was canceled or terminated"},
    ExitCode{kExitOutput, "standard output cannot be written; what the command does is done"},
};

}  // namespace

std::span<const ExitCode> exit_codes() {
  return kExitCodes;
}

std::string exit_codes_text() {
  std::string text = "Exit codes:";
  for (const ExitCode& each : exit_codes()) {
    text += "\n  " + std::to_string(each.code) + "  " + std::string(each.meaning);
  }
  return text;
}

}  // namespace perdure::cli
