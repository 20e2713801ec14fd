#pragma once

#include <string>
#include <sys/types.h>

namespace perdure::demo {

/// What the worker process does: serves the orders of a store until SIGTERM, and reports on its
/// standard output. It dies with `parent`, whatever ends that one. Answers the exit code.
int worker_main(const std::string& url, pid_t parent);

}  // namespace perdure::demo
