#include "cli/demo/interrupts.h"

#include <cerrno>
#include <sys/signalfd.h>
#include <system_error>
#include <unistd.h>

namespace perdure::demo {

namespace {

sigset_t held_back() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, signal);
  return set;
}

}  // namespace

Interrupts::Interrupts() {
  const sigset_t set = held_back();
  descriptor_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &former_pipe_);
  ::pthread_sigmask(SIG_BLOCK, &set, &former_mask_);
}

Interrupts::~Interrupts() {
  while (take() != 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
  ::sigaction(SIGPIPE, &former_pipe_, nullptr);
  ::close(descriptor_);
}

int Interrupts::take() const {
  signalfd_siginfo info{};
  const auto got = ::read(descriptor_, &info, sizeof info);
  return got == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void Interrupts::check() const {
  if (const int signal = take(); signal != 0) throw Interrupted(signal);
}

}  // namespace perdure::demo
