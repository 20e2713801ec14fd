#include "cli/demo/worker_main.h"

#include <csignal>
#include <sys/prctl.h>
#include <unistd.h>

#include <perdure/open.h>
#include <perdure/runtime.h>
#include <perdure/signals.h>

#include "base/log.h"
#include "cli/demo/orders.h"
#include "cli/demo/report.h"

namespace perdure::demo {

namespace {

/// One write each: shorter than PIPE_BUF, so lines of several threads do not mix.
void tell_parent(const Report& report) {
  const std::string line = to_line(report) + '\n';
  // A parent that has gone is heard of by the signal of its death.
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

}  // namespace

int worker_main(const std::string& url, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return 1;  // it died before it could be watched
  log::set_level(log::Level::kWarning);
  const Registry registry = orders(tell_parent);
  RuntimeOptions options;
  options.workers = {{.queue = kQueue}};
  Runtime runtime(open(url), registry, options);
  tell_parent({Report::Kind::kReady});
  run_until_signal(runtime);
  return 0;
}

}  // namespace perdure::demo
