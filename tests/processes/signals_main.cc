#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <latch>
#include <map>
#include <poll.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <thread>

#include "base/log.h"
#include "runtime/stop_signals.h"

/// A program that is stopped by signals: `perdure_signals_child CASE`. Says what it does, one line
/// each, so that whoever sends the signals knows where it is.
namespace perdure::test {
namespace {

using namespace std::chrono_literals;
using runtime::run_until_stop_signal;

constexpr Duration kNoLimit{0};

void say(const std::string& what) {
  std::cout << what << std::endl;
}

void say_returned(int signal) {
  say("returned " + std::to_string(signal));
}

/// What is stopped hangs for ever.
void hang() {
  say("stopping");
  for (;;) std::this_thread::sleep_for(1h);
}

void set_blocked(bool blocked) {
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  ::pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &both, nullptr);
}

std::string mask_of_this_thread() {
  sigset_t now;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &now);
  return sigismember(&now, SIGTERM) == 1 ? "blocked" : "open";
}

std::atomic<int> seen_by_former{0};

void former_handler(int signal) {
  seen_by_former = signal;
}

void wait_once() {
  say("ready");
  say_returned(run_until_stop_signal([] { say("stopping"); }, kNoLimit));
}

void wait_twice() {
  wait_once();
  wait_once();
}

void give_back_handlers() {
  std::signal(SIGINT, former_handler);
  std::signal(SIGTERM, SIG_IGN);
  wait_once();
  std::raise(SIGTERM);  // ignored again
  std::raise(SIGINT);
  say("former handler got " + std::to_string(seen_by_former));
}

void land_on_another_thread() {
  runtime::StopSignals signals;
  std::thread other([] { ::pthread_kill(::pthread_self(), SIGTERM); });
  say_returned(signals.wait());
  other.join();
}

void pending_before() {
  set_blocked(true);
  std::raise(SIGTERM);
  say("pending");
  say_returned(run_until_stop_signal([] { say("stopping"); }, kNoLimit));
  say(mask_of_this_thread());
}

void blocked_everywhere() {
  set_blocked(true);
  std::atomic<bool> over{false};
  std::thread idle([&over] { over.wait(false); });  // blocks them too
  wait_once();
  say(mask_of_this_thread());
  over = true;
  over.notify_all();
  idle.join();
}

void hang_without_limit() {
  say("ready");
  run_until_stop_signal(hang, kNoLimit);
}

void hang_with_a_limit() {
  say("ready");
  run_until_stop_signal(hang, 2s);
}

void two_at_a_time() {
  // Each waits for the other: both must have heard of it.
  std::latch both(2);
  std::atomic<int> stopped{0};
  const auto count = [&] {
    ++stopped;
    both.arrive_and_wait();
  };
  std::thread other([&] { run_until_stop_signal(count, kNoLimit); });
  say("ready");
  const int signal = run_until_stop_signal(count, kNoLimit);
  other.join();
  say("stopped " + std::to_string(stopped));
  say_returned(signal);
}

void throw_while_stopping() {
  std::signal(SIGTERM, former_handler);
  say("ready");
  try {
    run_until_stop_signal([] { throw std::runtime_error("cannot stop"); }, 1h);
  } catch (const std::runtime_error& error) {
    say(error.what());
  }
  std::raise(SIGTERM);
  say("former handler got " + std::to_string(seen_by_former));
}

const std::map<std::string, std::function<void()>> kCases = {
    {"once", wait_once},
    {"twice", wait_twice},
    {"give-back", give_back_handlers},
    {"other-thread", land_on_another_thread},
    {"pending", pending_before},
    {"blocked", blocked_everywhere},
    {"hang", hang_without_limit},
    {"overdue", hang_with_a_limit},
    {"two", two_at_a_time},
    {"throw", throw_while_stopping},
};

}  // namespace
}  // namespace perdure::test

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is cut off leaves nothing behind
  perdure::log::set_level(perdure::log::Level::kOff);
  // A thread sanitizer can lose a signal that comes while a thread makes its first blocking call.
  ::poll(nullptr, 0, 0);
  const auto found = perdure::test::kCases.find(argc == 2 ? argv[1] : "");
  if (found == perdure::test::kCases.end()) return 2;
  found->second();
}
