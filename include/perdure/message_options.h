#pragma once

namespace perdure {

/// How a handler of signals or updates is run.
struct MessageOptions {
  /// True: a cancel of the run reaches the handler at its awaits, as it does main. False: it goes
  /// on; the run ends when it is done, or its time for cleanup is over.
  bool cancel_with_run = false;
};

}  // namespace perdure
