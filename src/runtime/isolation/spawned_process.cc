#include "runtime/isolation/spawned_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/isolation/not_started.h"
#include "runtime/isolation/program.h"

namespace perdure::runtime {

namespace {

[[noreturn]] void refuse_spawn(const char* call, int error) {
  const char* described = ::strerrordesc_np(error);
  throw NotStarted(std::string(call) + ": " + (described == nullptr ? "unknown" : described));
}

void require_spawn(const char* call, int error) {
  if (error != 0) refuse_spawn(call, error);
}

/// What the process finds open: its end of the socket, no input, our output and errors.
class FileActions {
 public:
  explicit FileActions(int socket) {
    require_spawn("posix_spawn_file_actions_init", posix_spawn_file_actions_init(&actions_));
    int error = posix_spawn_file_actions_adddup2(&actions_, socket, kIsolatedSocket);
    if (error == 0) {
      error = posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    // The program's own descriptors, too: not all of them close at exec.
    if (error == 0) {
      error = posix_spawn_file_actions_addclosefrom_np(&actions_, kIsolatedSocket + 1);
    }
    if (error == 0) return;
    posix_spawn_file_actions_destroy(&actions_);
    refuse_spawn("posix_spawn_file_actions", error);
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// A group of its own, so that a Ctrl-C for the worker does not end it and a kill reaches all of
/// it; and signals as in a program that was just started, whatever this thread blocks.
class Attributes {
 public:
  Attributes() {
    require_spawn("posix_spawnattr_init", posix_spawnattr_init(&attributes_));
    sigset_t none;
    sigemptyset(&none);
    sigset_t defaults = none;
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGCHLD}) sigaddset(&defaults, signal);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(
        &attributes_,
        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

pid_t spawn_for_attempt(std::string name, int socket) {
  const FileActions files(socket);
  const Attributes attributes;
  std::string mark = kIsolatedArgument;
  std::string worker = std::to_string(::getpid());
  const std::array<char*, 4> arguments{name.data(), mark.data(), worker.data(), nullptr};
  pid_t pid = -1;
  // The file that runs now, also when a newer one has taken its name.
  require_spawn("posix_spawn",
                ::posix_spawn(&pid,
                              "/proc/self/exe",
                              files.get(),
                              attributes.get(),
                              arguments.data(),
                              environ));
  return pid;
}

/// By the system call: older C libraries have no function for it.
int open_process(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

}  // namespace

std::string ProcessEnd::text() const {
  if (!known) return "in a way that is not known, since the program waits for or ignores children";
  if (signal == 0) return "with exit code " + std::to_string(exit_code);
  const char* described = ::sigdescr_np(signal);
  return "by signal " + std::to_string(signal) + " (" +
         (described == nullptr ? "unknown" : described) + ")";
}

SpawnedProcess::SpawnedProcess(const std::string& name) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    refuse_spawn("socketpair", errno);
  }
  socket_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]);
  pid_ = spawn_for_attempt(name, theirs.get());
  ended_ = Descriptor(open_process(pid_));
  if (ended_.get() >= 0) return;
  const int error = errno;
  end();
  refuse_spawn("pidfd_open", error);
}

SpawnedProcess::~SpawnedProcess() {
  end();
}

void SpawnedProcess::terminate() const {
  if (!reaped_) ::kill(pid_, SIGTERM);
}

ProcessEnd SpawnedProcess::end(std::chrono::milliseconds patience) {
  if (reaped_) return end_;
  if (patience.count() > 0) {
    pollfd ended{.fd = ended_.get(), .events = POLLIN, .revents = 0};
    while (::poll(&ended, 1, static_cast<int>(patience.count())) < 0 && errno == EINTR) {
    }
  }
  // Before it is reaped: until then its number and that of its group belong to nobody else.
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  int state = 0;
  pid_t got = -1;
  do {
    got = ::waitpid(pid_, &state, 0);
  } while (got < 0 && errno == EINTR);
  reaped_ = true;
  end_.known = got == pid_;
  if (end_.known && WIFSIGNALED(state)) end_.signal = WTERMSIG(state);
  if (end_.known && WIFEXITED(state)) end_.exit_code = WEXITSTATUS(state);
  return end_;
}

}  // namespace perdure::runtime
