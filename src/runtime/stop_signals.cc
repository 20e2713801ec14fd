#include "runtime/stop_signals.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "runtime/end_process.h"
#include "runtime/forced_exit.h"

namespace perdure::runtime {

namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};
constexpr int kExitBase = 128;

// What the handler touches: nothing but lock-free values and a descriptor that is never closed,
// since a handler may still run in some thread when the last listener has gone.
std::atomic<int> heard{0};  ///< the first signal; 0 = none yet
std::atomic<int> wake{-1};
std::atomic<pid_t> listener{0};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free);

void wake_all() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake.load(), &one, sizeof one);
}

void drain() {
  std::uint64_t stale = 0;
  [[maybe_unused]] const auto drained = ::read(wake.load(), &stale, sizeof stale);
}

extern "C" void perdure_on_stop_signal(int signal) {
  // A forked child that has not executed a program yet has our handlers: it ends as it would
  // without them, and must not wake its parent.
  if (::getpid() != listener.load()) ::_exit(kExitBase + signal);
  int none = 0;
  if (!heard.compare_exchange_strong(none, signal)) ::_exit(kExitBase + signal);
  const int former_errno = errno;
  wake_all();
  errno = former_errno;
}

std::mutex mutex;                                           // guards the two below
int listeners = 0;                                          // NOLINT: one per process, as signals
std::array<struct sigaction, kSignals.size()> former = {};  // NOLINT

/// Once for the life of the process.
void open_wake() {
  if (wake.load() >= 0) return;
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  wake.store(descriptor);
}

void install() {
  open_wake();
  drain();
  heard.store(0);
  listener.store(::getpid());
  struct sigaction action {};
  action.sa_handler = perdure_on_stop_signal;
  action.sa_flags = SA_RESTART;  // handlers of the program that block are not disturbed
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    PERDURE_CHECK(::sigaction(kSignals[i], &action, &former[i]) == 0, "sigaction");
  }
}

void restore() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &former[i], nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  {
    const std::lock_guard lock(mutex);
    if (listeners == 0) install();
    ++listeners;
  }
  // After the handlers are there: what is pending is heard now.
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : kSignals) sigaddset(&ours, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &ours, &former_mask_);
}

StopSignals::~StopSignals() {
  // Before the handlers go: the program blocked the signals because it has none.
  ::pthread_sigmask(SIG_SETMASK, &former_mask_, nullptr);
  const std::lock_guard lock(mutex);
  if (--listeners == 0) restore();
}

int StopSignals::wait() {
  for (;;) {
    const int signal = heard.load();
    if (signal != 0) return signal;
    // It stays readable after a signal: one write wakes all who listen, also those to come.
    pollfd readable{.fd = wake.load(), .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, -1) <= 0 || heard.load() != 0) continue;
    // A handler of former listeners wrote late. The signal of these may come at this moment.
    drain();
    if (heard.load() != 0) wake_all();
  }
}

int run_until_stop_signal(const std::function<void()>& stop, Duration force_exit_timeout) {
  StopSignals signals;
  const int signal = signals.wait();
  log::info("stopping", {{"signal", signal}});
  const ForcedExit limit(force_exit_timeout, [signal, force_exit_timeout] {
    end_process(kExitBase + signal, [signal, force_exit_timeout] {
      log::error("stopping takes longer than force_exit_timeout: the process ends",
                 {{"signal", signal}, {"timeout_ms", force_exit_timeout.count() / 1'000}});
    });
  });
  stop();
  return signal;
}

}  // namespace perdure::runtime
