#include "tests/processes/child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/clock.h"

namespace perdure::test {

namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// With a mask and handlers of its own: nothing of this process is inherited.
pid_t spawn(const std::string& program,
            std::vector<std::string> arguments,
            const std::string& failpoints,
            int output) {
  arguments.insert(arguments.begin(), program);
  std::vector<std::string> variables{"PERDURE_FAILPOINTS=" + failpoints};
  for (char** each = environ; *each != nullptr; ++each) variables.emplace_back(*each);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t both = none;
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &both);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid,
                                  program.c_str(),
                                  &files,
                                  &attributes,
                                  pointers_to(arguments).data(),
                                  pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    throw std::runtime_error("cannot execute " + program + ": " + std::strerror(error));
  }
  return pid;
}

std::string describe(int state) {
  if (WIFSIGNALED(state)) return std::string("was ended by SIG") + sigabbrev_np(WTERMSIG(state));
  if (WIFEXITED(state)) return "returned " + std::to_string(WEXITSTATUS(state));
  return "is in state " + std::to_string(state);
}

}  // namespace

Child::Child(const std::string& program,
             std::vector<std::string> arguments,
             const std::string& failpoints) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  output_ = pipe[0];
  try {
    pid_ = spawn(program, std::move(arguments), failpoints, pipe[1]);
  } catch (...) {
    ::close(pipe[0]);
    ::close(pipe[1]);
    throw;
  }
  ::close(pipe[1]);
}

Child::~Child() {
  if (pid_ >= 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, &state_, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(output_);
}

void Child::send(int signal) {
  if (pid_ < 0 || ::kill(pid_, signal) != 0) {
    throw std::runtime_error("no such process: it " + describe(state_));
  }
}

void Child::wait_for_handlers() {
  constexpr std::uint64_t kBoth = 1ULL << (SIGINT - 1) | 1ULL << (SIGTERM - 1);
  const auto deadline = steady_now() + kPatience;
  for (;;) {
    std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
    for (std::string field; std::getline(status, field);) {
      if (!field.starts_with("SigCgt:")) continue;
      if ((std::stoull(field.substr(7), nullptr, 16) & kBoth) == kBoth) return;
    }
    if (steady_now() >= deadline) throw std::runtime_error("it has no handlers");
    std::this_thread::sleep_for(1ms);
  }
}

std::string Child::line() {
  const auto deadline = steady_now() + kPatience;
  for (;;) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string found = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return found;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_now());
    pollfd readable{.fd = output_, .events = POLLIN, .revents = 0};
    if (left <= 0ms || ::poll(&readable, 1, static_cast<int>(left.count())) == 0) {
      send(SIGKILL);
      throw std::runtime_error("it prints nothing more; unfinished: " + unread_);
    }
    std::array<char, 4096> some{};
    const auto got = ::read(output_, some.data(), some.size());
    if (got == 0) return std::exchange(unread_, "");
    if (got > 0) unread_.append(some.data(), static_cast<std::size_t>(got));
  }
}

bool Child::wait(int options, std::chrono::milliseconds bound) {
  const auto deadline = steady_now() + bound;
  for (;;) {
    const pid_t got = ::waitpid(pid_, &state_, options | WNOHANG);
    if (got == pid_) {
      if (!WIFSTOPPED(state_)) pid_ = -1;
      return true;
    }
    if (got < 0 && errno != EINTR) throw std::runtime_error("it was reaped before");
    if (steady_now() >= deadline) return false;
    std::this_thread::sleep_for(1ms);
  }
}

std::string Child::end() {
  if (pid_ >= 0 && !wait(0, kPatience)) {
    send(SIGKILL);
    throw std::runtime_error("it does not end");
  }
  return describe(state_);
}

bool Child::has_ended() {
  return pid_ < 0 || wait(0, 0ms);
}

void Child::wait_for_stop() {
  if (!wait(WUNTRACED, kPatience)) {
    send(SIGKILL);
    throw std::runtime_error("it does not stop");
  }
  if (!WIFSTOPPED(state_)) throw std::runtime_error("it did not stop, it " + describe(state_));
}

}  // namespace perdure::test
