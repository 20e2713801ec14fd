#pragma once

#include <string>
#include <sys/types.h>

#include <perdure/perdure.h>

namespace perdure::test {

// Isolated, all of them. A path is where the handler writes the pid of its process when it is
// about to do what it is named for.
inline constexpr Activity<std::string(std::string)> echo{"echo"};
inline constexpr Activity<std::string()> describe{"describe"};  ///< all of its context, as text
inline constexpr Activity<int()> own_pid{"own_pid"};
inline constexpr Activity<std::string(std::string)> end_so{"end_so"};  ///< see `end_in_a_way`
inline constexpr Activity<int(int)> beat{"beat"};  ///< beats so often; the second attempt tells
                                                   ///< what it found
inline constexpr Activity<void(std::string)> deaf{"deaf"};            ///< a path; loops for ever
inline constexpr Activity<void(std::string)> listening{"listening"};  ///< a path; until told
inline constexpr Activity<void(std::string)> beating{"beating"};  ///< a path; beats until told
/// A path; a blocking read that is ended by EINTR.
inline constexpr Activity<std::string(std::string)> interruptible{"interruptible"};
/// The same, but not ended.
inline constexpr Activity<std::string(std::string)> uninterruptible{"uninterruptible"};
/// A path, that gets the pid of a process that the handler leaves behind.
inline constexpr Activity<void(std::string)> breeding{"breeding"};
inline constexpr Activity<std::string()> descriptors{"descriptors"};  ///< those that are open

/// A variable: what a process of a handler does instead of calling isolated_main. "exit", or a
/// path: hangs when it has written its pid there.
inline constexpr const char* kOtherMain = "PERDURE_TEST_OTHER_MAIN";

/// Whole, or not there.
void write_pid(const std::string& path, pid_t pid);

/// A fresh registry with all of the above, the same in every process.
Registry isolated_handlers();

}  // namespace perdure::test
