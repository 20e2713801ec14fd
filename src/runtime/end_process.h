#pragma once

#include <functional>

namespace perdure::runtime {

/// Ends this process with that code, and nothing of it runs any more: no destructors, which would
/// run beside threads that do not end.
///
/// `last_words` are for the log and have a second, on a thread of their own: what does not end may
/// be the sink of the log itself, or who should read its pipe. Without a thread nothing is said.
[[noreturn]] void end_process(int code, std::function<void()> last_words) noexcept;

}  // namespace perdure::runtime
