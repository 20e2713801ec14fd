#include "cli/standard_streams.h"

#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/exit_codes.h"

namespace perdure::cli {

namespace {

/// Reading finds the end, writing fails: as with a stream that is closed.
void fill_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1) continue;
    const int opened = ::open("/dev/null", O_RDONLY);
    if (opened != -1 && opened != descriptor) ::close(opened);
  }
}

bool reader_has_left() {
  struct stat info {};
  if (::fstat(STDOUT_FILENO, &info) != 0) return false;
  if (!S_ISFIFO(info.st_mode) && !S_ISSOCK(info.st_mode)) return false;
  pollfd stream{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&stream, 1, 0) == 1 && (stream.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

StandardStreams::StandardStreams() {
  fill_closed_descriptors();
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before_);
}

StandardStreams::~StandardStreams() {
  ::sigaction(SIGPIPE, &before_, nullptr);
}

int StandardStreams::finish(int code) {
  std::cout.flush();
  if (std::cout.good() || reader_has_left()) return code;
  std::cerr << "standard output cannot be written: free space on its disk, or open it\n";
  return code == kExitDone ? kExitOutput : code;
}

}  // namespace perdure::cli
