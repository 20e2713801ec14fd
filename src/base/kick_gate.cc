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

void install_kick_handler() {
  struct sigaction former {};
  if (::sigaction(kick_signal(), nullptr, &former) != 0 || former.sa_handler != SIG_DFL) return;
  struct sigaction action {};
  action.sa_handler = perdure_on_kick;
  action.sa_flags = 0;  // no SA_RESTART: that is what it is for
  sigemptyset(&action.sa_mask);
  ::sigaction(kick_signal(), &action, nullptr);
}

/// False: the program uses the signal itself, from the begin or since some time.
bool may_kick() {
  static const bool installed = (install_kick_handler(), true);
  struct sigaction now {};
  return installed && ::sigaction(kick_signal(), nullptr, &now) == 0 &&
         now.sa_handler == perdure_on_kick;
}

void unblock() {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, kick_signal());
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

}  // namespace

KickGate::Inside::Inside(KickGate& gate) : gate_(gate) {
  if (may_kick()) unblock();
  allow_stacks();
  const std::lock_guard lock(gate_.mutex_);
  gate_.inside_ = ThreadRef::current();
  gate_.received_ = &received;
  gate_.due_ = received.load();
}

KickGate::Inside::~Inside() {
  std::uint64_t due = 0;
  {
    const std::lock_guard lock(gate_.mutex_);
    gate_.inside_.reset();
    due = gate_.due_;
  }
  if (received.load() >= due) return;
  unblock();  // user code may have blocked it: what was sent would wait for the next one
  while (received.load() < due && may_kick()) {
    const std::lock_guard lock(gate_.mutex_);
    std::this_thread::yield();
  }
}

bool KickGate::kick() {
  const std::lock_guard lock(mutex_);
  if (!inside_ || !may_kick()) return false;
  if (received_->load() < due_) return true;  // one is on its way
  if (::pthread_kill(inside_->thread, kick_signal()) != 0) return false;
  ++due_;
  return true;
}

bool KickGate::look(const std::function<void(const ThreadRef&)>& at) {
  const std::lock_guard lock(mutex_);
  if (!inside_) return false;
  at(*inside_);
  return true;
}

}  // namespace perdure
