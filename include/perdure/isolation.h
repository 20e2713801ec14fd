#pragma once

#include <concepts>

#include <perdure/detail/handler_table.h>

namespace perdure {

class Registry;

namespace detail {
void isolated_main(int argc, char** argv, const HandlerTable& handlers);
}

/// Makes handlers possible that run in processes of their own: for code that crashes, hangs, leaks,
/// or never looks at its stop token. Call it first in main, as soon as the registry is filled:
///
///     int main(int argc, char** argv) {
///       pd::Registry registry;
///       registry.add(render, do_render, {.isolation = pd::Isolation::kProcess});
///       pd::isolated_main(argc, argv, registry);
///       ..
///     }
///
/// In the program as it was started it returns at once, and a runtime of this process may have such
/// handlers; a runtime without this call refuses them. Each of their attempts executes the program
/// anew, and in that process this call does not return: it runs the one handler on the main thread
/// and ends the process, without destructors of static objects. So what stands before it runs for
/// each attempt: keep it short, open nothing.
///
/// What the process has: standard output and error of the worker, no input, no other descriptor;
/// the environment; a process group of its own. Its context is complete: input, heartbeats, result
/// and failures go through a socket to the worker. Nothing else is shared: globals that the program
/// sets after this call are not set there.
///
/// Stopping: when the attempt is told to stop, its token fires with the reason, and the process
/// gets SIGTERM, which does nothing but wake blocking calls (of an `interruptible` handler they end
/// with EINTR, else they go on) unless the handler installs its own handler for it. After
/// `activity_cancellation_grace_period` it is killed, with all of its process group; while the
/// runtime stops, before `shutdown_force_timeout` is over. What the handler has started in its
/// group is killed at the end of every attempt.
///
/// Crash: a process that dies fails its attempt alone, with type "process_died", tried again as the
/// call's retry policy says. When the worker dies, by whatever means, its processes are killed by
/// the kernel. Linux 5.3 or later. The program must not ignore SIGCHLD nor wait for any child.
/// TestRuntime runs these handlers like all others, on the thread of the test.
template <std::same_as<Registry> R>
void isolated_main(int argc, char** argv, const R& registry) {
  detail::isolated_main(argc, argv, *registry.table());
}

}  // namespace perdure
