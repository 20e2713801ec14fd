#include "tests/sqlite/crash/child_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace perdure::sqlite::crash {

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ChildProcess::ChildProcess(const std::string& program,
                           std::vector<std::string> arguments,
                           const std::string& failpoints) {
  arguments.insert(arguments.begin(), program);
  std::vector<std::string> variables{"PERDURE_FAILPOINTS=" + failpoints};
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  const int error = ::posix_spawn(&pid_,
                                  program.c_str(),
                                  nullptr,
                                  nullptr,
                                  pointers_to(arguments).data(),
                                  pointers_to(variables).data());
  if (error != 0) {
    throw std::runtime_error("cannot execute " + program + ": " + std::strerror(error));
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  int state = 0;
  while (::waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
  }
}

int ChildProcess::wait(int options) {
  int state = 0;
  while (::waitpid(pid_, &state, options) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
  }
  if (!WIFSTOPPED(state)) pid_ = -1;
  return state;
}

int ChildProcess::wait_for_end() {
  return wait(0);
}

void ChildProcess::wait_for_stop() {
  const int state = wait(WUNTRACED);
  if (!WIFSTOPPED(state)) throw std::runtime_error("it did not stop, it " + describe_end(state));
}

void ChildProcess::resume() {
  if (::kill(pid_, SIGCONT) != 0) throw std::runtime_error("cannot be continued");
}

void ChildProcess::kill() {
  if (::kill(pid_, SIGKILL) != 0) throw std::runtime_error("cannot be killed");
}

std::string describe_end(int state) {
  if (WIFSIGNALED(state)) return std::string("was ended by SIG") + sigabbrev_np(WTERMSIG(state));
  if (WIFEXITED(state)) return "returned " + std::to_string(WEXITSTATUS(state));
  return "is in state " + std::to_string(state);
}

}  // namespace perdure::sqlite::crash
