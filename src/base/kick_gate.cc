#include "base/kick_gate.h"

#include <csignal>
#include <thread>

namespace perdure {

namespace {

constinit thread_local std::atomic<std::uint64_t> received{0};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

int kick_signal() {
  return SIGRTMAX - 2;
}

extern "C" void perdure_on_kick(int) {
  received.fetch_add(1, std::memory_order_relaxed);
}

/// Once. False: the program uses the signal itself.
bool listens() {
  static const bool ours = [] {
    struct sigaction former {};
    if (::sigaction(kick_signal(), nullptr, &former) != 0 || former.sa_handler != SIG_DFL) {
      return false;
    }
    struct sigaction action {};
    action.sa_handler = perdure_on_kick;
    action.sa_flags = 0;  // no SA_RESTART: that is what it is for
    sigemptyset(&action.sa_mask);
    return ::sigaction(kick_signal(), &action, nullptr) == 0;
  }();
  return ours;
}

void unblock() {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, kick_signal());
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

}  // namespace

KickGate::Inside::Inside(KickGate& gate) : gate_(gate), received_before_(received.load()) {
  const std::lock_guard lock(gate_.mutex_);
  gate_.inside_ = ThreadRef::current();
  gate_.sent_ = 0;
}

KickGate::Inside::~Inside() {
  std::uint64_t sent = 0;
  {
    const std::lock_guard lock(gate_.mutex_);
    gate_.inside_.reset();
    sent = gate_.sent_;
  }
  if (received.load() - received_before_ >= sent) return;
  unblock();  // user code may have blocked it: what was sent would wait for the next one
  while (received.load() - received_before_ < sent) {
    const std::lock_guard lock(gate_.mutex_);
    std::this_thread::yield();
  }
}

bool KickGate::kick() {
  if (!listens()) return false;
  const std::lock_guard lock(mutex_);
  if (!inside_ || ::pthread_kill(inside_->thread, kick_signal()) != 0) return false;
  ++sent_;
  return true;
}

bool KickGate::look(const std::function<void(const ThreadRef&)>& at) {
  const std::lock_guard lock(mutex_);
  if (!inside_) return false;
  at(*inside_);
  return true;
}

}  // namespace perdure
