#include "cli/bench/own_child.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace perdure::bench {

namespace {

constexpr const char* kThisProgram = "/proc/self/exe";

void close_if_open(int descriptor) {
  if (descriptor >= 0) ::close(descriptor);
}

/// Both ends; those that were not taken are closed with it.
struct Pipe {
  std::array<int, 2> ends{-1, -1};

  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends) close_if_open(end);
  }

  bool open() { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }
  int take(std::size_t end) { return std::exchange(ends.at(end), -1); }
};

Error no_child(int code) {
  return unavailable(std::string("a second process cannot be started: ") + std::strerror(code));
}

}  // namespace

Result<OwnChild> OwnChild::start(std::vector<std::string> arguments) {
  Pipe input;
  Pipe output;
  if (!input.open() || !output.open()) return no_child(errno);
  arguments.insert(arguments.begin(), "perdure");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  if (const int code = ::posix_spawn_file_actions_init(&actions); code != 0) return no_child(code);
  ::posix_spawn_file_actions_adddup2(&actions, input.ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output.ends[1], STDOUT_FILENO);
  pid_t pid = -1;
  const int code = ::posix_spawn(&pid, kThisProgram, &actions, nullptr, argv.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return no_child(code);
  return OwnChild(pid, input.take(1), output.take(0));
}

OwnChild::OwnChild(OwnChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)) {}

OwnChild::~OwnChild() {
  kill();
  if (pid_ > 0) {
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close_if_open(input_);
  close_if_open(output_);
}

Result<std::string> OwnChild::read_line() {
  std::string line;
  for (;;) {
    char next = 0;
    const ssize_t count = ::read(output_, &next, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return unavailable("the second process has ended too early");
    if (next == '\n') return line;
    line.push_back(next);
  }
}

void OwnChild::kill() {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

}  // namespace perdure::bench
