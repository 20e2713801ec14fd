#pragma once

#include <optional>

#include <perdure/time.h>

namespace perdure {

class Runtime;

/// Waits for SIGINT or SIGTERM, then stops the runtime (`Runtime::stop`) and answers the signal:
/// the last line of the main of a worker.
///
///     pd::Runtime runtime(store, registry());
///     pd::run_until_signal(runtime);
///     return 0;
///
/// A second signal while the runtime stops ends the process at once, and so does
/// `force_exit_timeout` after the first one (unset: that of the runtime; zero: no limit): nothing is flushed, the exit code is
/// 128 + the number of the signal. Nothing that is stored is lost by that.
///
/// It hears signals on whichever thread they land, also those that the program was started to
/// ignore. In the calling thread it unblocks both, so a signal that came while all threads blocked
/// it is not lost: it ends the call at once. A signal that comes before the call and is not blocked
/// does what it did before, which by default is to end the process. Whoever wants a quiet end from
/// the first moment on blocks both (pthread_sigmask) before the runtime is made.
///
/// The former handlers and the thread's mask are back when it returns. Threading: any thread; calls
/// for several runtimes at a time are all ended by one signal. Throws std::system_error when no
/// descriptor is left, and nothing is changed then.
int run_until_signal(Runtime& runtime, std::optional<Duration> force_exit_timeout = {});

}  // namespace perdure
