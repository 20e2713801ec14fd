#pragma once

#include <optional>
#include <string>

#include <perdure/detail/handler_table.h>

/// This program as it is executed for isolated handlers.
namespace perdure::runtime {

/// The first argument of a process that was spawned for an attempt; the second is the pid of its
/// worker.
inline constexpr const char* kIsolatedArgument = "--perdure-isolated";
/// Where such a process has its end of the socket.
inline constexpr int kIsolatedSocket = 3;
/// What to do about a program that cannot be executed for an attempt.
inline constexpr const char* kCallIsolatedMain =
    "call pd::isolated_main(argc, argv, registry) first in main";

/// Says that this program calls isolated_main; `name` is its argv[0]. Threading: any thread.
void announce_program(std::string name);
/// What was announced; nothing: the program must not be executed, its main would begin anew.
std::optional<std::string> announced_program();

/// InvalidArgument when a handler is isolated and the program was not announced.
void check_isolation(const detail::HandlerTable& handlers);

}  // namespace perdure::runtime
