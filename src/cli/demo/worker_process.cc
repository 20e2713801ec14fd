#include "cli/demo/worker_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <vector>

#include "base/clock.h"

namespace perdure::demo {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kSilence = 30s;
constexpr std::chrono::milliseconds kTimeToStop = 5s;
constexpr mode_t kOwnerOnly = 0600;
constexpr std::size_t kReadSize = 4096;

/// What a spawned process begins with: its own mask and handlers, its output in the pipe.
class SpawnPlan {
 public:
  SpawnPlan(int output, const std::filesystem::path& log) {
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(
        &files, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, kOwnerOnly);
    ::posix_spawnattr_init(&attributes);
    sigset_t set;
    ::sigemptyset(&set);
    ::posix_spawnattr_setsigmask(&attributes, &set);
    ::sigaddset(&set, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &set);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t files{};
  posix_spawnattr_t attributes{};
};

int spawn(std::vector<std::string> words, const SpawnPlan& plan, pid_t& pid) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return ::posix_spawn(
      &pid, "/proc/self/exe", &plan.files, &plan.attributes, pointers.data(), environ);
}

std::string describe(int state) {
  if (WIFSIGNALED(state)) return "was ended by signal " + std::to_string(WTERMSIG(state));
  return "returned " + std::to_string(WEXITSTATUS(state));
}

}  // namespace

WorkerProcess::WorkerProcess(const std::string& url,
                             const std::filesystem::path& log,
                             const Interrupts& mine)
    : interrupts_(mine) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "no pipe for the worker");
  }
  output_ = pipe[0];
  const int error =
      spawn({"perdure", "demo", "--provider", url, "--serve-for", std::to_string(::getpid())},
            SpawnPlan(pipe[1], log),
            pid_);
  ::close(pipe[1]);
  if (error != 0) {
    ::close(output_);
    throw std::system_error(error, std::generic_category(), "the worker cannot be executed");
  }
}

WorkerProcess::~WorkerProcess() {
  kill();
  ::close(output_);
}

bool WorkerProcess::read_more(std::chrono::milliseconds patience) {
  std::array<pollfd, 2> either{{{.fd = output_, .events = POLLIN, .revents = 0},
                                {.fd = interrupts_.descriptor(), .events = POLLIN, .revents = 0}}};
  const int ready = ::poll(either.data(), either.size(), static_cast<int>(patience.count()));
  interrupts_.check();
  if (ready == 0) throw std::runtime_error("worker " + std::to_string(pid_) + " says nothing more");
  std::array<char, kReadSize> some{};
  const auto got = ::read(output_, some.data(), some.size());
  if (got > 0) unread_.append(some.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && errno == EINTR);
}

std::optional<Report> WorkerProcess::take_line() {
  const std::size_t end = unread_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 1);
  auto report = parse_report(line);
  if (!report) throw std::runtime_error("worker " + std::to_string(pid_) + " said: " + line);
  return report;
}

Report WorkerProcess::next() {
  for (;;) {
    if (auto report = take_line()) return *report;
    if (read_more(kSilence)) continue;
    const std::string end = reap();
    interrupts_.check();  // Ctrl-C reaches the whole group, the worker perhaps first
    throw std::runtime_error("worker " + std::to_string(pid_) + " " + end +
                             " although nobody had told it to end");
  }
}

std::optional<Report> WorkerProcess::last_words() {
  while (read_more(kSilence)) {
  }
  return take_line();
}

void WorkerProcess::kill() {
  if (reaped_) return;
  ::kill(pid_, SIGKILL);
  reap();
}

void WorkerProcess::stop() {
  if (reaped_) return;
  ::kill(pid_, SIGTERM);
  const auto deadline = steady_now() + kTimeToStop;
  const auto left = [&] {
    return std::max(0ms, std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_now()));
  };
  try {
    while (read_more(left())) {
    }
  } catch (const std::runtime_error&) {
    kill();
    return;
  }
  reap();
}

std::string WorkerProcess::reap() {
  int state = 0;
  while (!reaped_ && ::waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  return describe(state);
}

}  // namespace perdure::demo
