#include "base/thread_probe.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <execinfo.h>
#include <fstream>
#include <memory>
#include <mutex>
#include <sched.h>
#include <thread>
#include <unistd.h>

#include "base/clock.h"

namespace perdure {

namespace {

constexpr std::chrono::microseconds kPause{200};
constexpr std::uint64_t kStates = 4;
constexpr std::uint64_t kAsked = 1;
constexpr std::uint64_t kWriting = 2;
constexpr std::uint64_t kWritten = 3;

// One question at a time. Its number times kStates plus how far it has come: a signal that is
// delivered late finds another question and writes nothing.
std::atomic<std::uint64_t> question{0};
std::array<void*, 64> frames;  // NOLINT: written by the handler, between kAsked and kWritten
std::atomic<int> depth{0};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

int stack_signal() {
  return SIGRTMAX - 1;
}

extern "C" void perdure_on_stack_signal(int, siginfo_t* info, void*) {
  const int former_errno = errno;
  auto asked = static_cast<std::uint64_t>(
      reinterpret_cast<std::uintptr_t>(info->si_value.sival_ptr));  // NOLINT: what was sent
  if (question.compare_exchange_strong(asked, asked - kAsked + kWriting)) {
    depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
    question.store(asked - kAsked + kWritten);
  }
  errno = former_errno;
}

/// Once. False: the program uses the signal itself.
bool answers_stacks() {
  static const bool ours = [] {
    struct sigaction former {};
    if (::sigaction(stack_signal(), nullptr, &former) != 0 || former.sa_handler != SIG_DFL) {
      return false;
    }
    ::backtrace(frames.data(), 1);  // loads what it needs, which a handler must not
    struct sigaction action {};
    action.sa_sigaction = perdure_on_stack_signal;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    return ::sigaction(stack_signal(), &action, nullptr) == 0;
  }();
  return ours;
}

bool ask(const ThreadRef& thread, std::uint64_t asked) {
  sigval value{};
  value.sival_ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(asked));  // NOLINT
  return ::pthread_sigqueue(thread.thread, stack_signal(), value) == 0;
}

/// False: it has not answered in time, and will not any more; or it hangs in its answer, and then
/// nobody can be asked again.
bool wait_for_answer(std::uint64_t asked, std::chrono::milliseconds patience, bool& hangs) {
  const auto until = steady_now() + patience;
  const std::uint64_t written = asked - kAsked + kWritten;
  while (question.load() != written) {
    std::uint64_t unanswered = asked;
    if (steady_now() >= until && question.compare_exchange_strong(unanswered, asked - kAsked)) {
      return false;
    }
    if (steady_now() >= until + patience) {
      hangs = true;
      return false;
    }
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

std::string written_frames() {
  const std::unique_ptr<char*, void (*)(void*)> lines(::backtrace_symbols(frames.data(), depth),
                                                      &std::free);
  if (!lines) return "the stack could not be written";
  std::string text;
  // The first two are the handler and the way into it.
  for (int i = 2; i < depth; ++i) {
    if (!text.empty()) text += '\n';
    text += lines.get()[i];  // NOLINT: an array of the C library
  }
  return text.empty() ? "the stack is empty" : text;
}

}  // namespace

ThreadRef ThreadRef::current() {
  return {::gettid(), ::pthread_self()};
}

std::string stack_of(const ThreadRef& thread, std::chrono::milliseconds patience) {
  static std::mutex one_at_a_time;
  static bool hangs = false;  // guarded by it
  std::unique_lock lock(one_at_a_time, std::try_to_lock);
  for (const auto until = steady_now() + patience; !lock.owns_lock();) {
    if (steady_now() >= until) return "the stack cannot be seen: another thread is being asked";
    std::this_thread::sleep_for(kPause);
    static_cast<void>(lock.try_lock());
  }
  if (hangs) return "the stack cannot be seen: a thread hangs in the answer to an earlier question";
  if (!answers_stacks()) return "the stack cannot be seen: the program uses the signal for it";
  const std::uint64_t asked = (question.load() / kStates + 1) * kStates + kAsked;
  question.store(asked);
  if (!ask(thread, asked)) return "the stack cannot be seen: the thread cannot be asked";
  if (!wait_for_answer(asked, patience, hangs)) return "the stack cannot be seen: the thread does not answer";
  return written_frames();
}

void allow_stacks() {
  if (!answers_stacks()) return;
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, stack_signal());
  ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
}

std::optional<ThreadTimes> times_of(pid_t kernel_id) {
  std::ifstream file("/proc/self/task/" + std::to_string(kernel_id) + "/schedstat");
  std::int64_t running = 0;
  std::int64_t starved = 0;
  if (!(file >> running >> starved)) return std::nullopt;
  return ThreadTimes{std::chrono::nanoseconds(running), std::chrono::nanoseconds(starved)};
}

bool is_debugged() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("TracerPid:")) return std::stoi(line.substr(10)) != 0;
  }
  return false;
}

}  // namespace perdure
