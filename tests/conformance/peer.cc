#include "tests/conformance/peer.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "base/clock.h"

namespace perdure::conformance {

namespace {

/// Tells a peer that hangs from one that works.
constexpr auto kPatience = std::chrono::seconds(30);

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("peer: " + what);
}

[[noreturn]] void fail_errno(const std::string& what) {
  fail(what + ": " + std::strerror(errno));
}

/// Owns a descriptor until `release`.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

class SpawnSettings {
 public:
  SpawnSettings(int peer_stdin, int peer_stdout) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, peer_stdin, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, peer_stdout, STDOUT_FILENO);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&actions_);
  }

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// The peer answers one line per command and nothing else, so a line is all there is to read.
std::string read_line(int fd) {
  const auto deadline = steady_now() + kPatience;
  std::string line;
  while (line.empty() || line.back() != '\n') {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_now()).count();
    if (left <= 0) fail("no answer within the bound");
    pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) fail_errno("poll");
    if (ready <= 0) continue;
    char buffer[4096];
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count == 0) fail("it has ended without an answer");
    if (count < 0 && errno != EINTR) fail_errno("read");
    if (count > 0) line.append(buffer, static_cast<std::size_t>(count));
  }
  line.pop_back();
  return line;
}

void send_line(int fd, std::string line) {
  line += '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    // A dead peer must fail the test that speaks to it, not kill the process with SIGPIPE.
    const ssize_t count = ::send(fd, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) fail_errno("send");
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
}

int wait_for_state(pid_t pid, int options) {
  int state = 0;
  pid_t seen = -1;
  do {
    seen = ::waitpid(pid, &state, options);
  } while (seen < 0 && errno == EINTR);
  if (seen != pid) fail_errno("waitpid");
  return state;
}

/// Words of an answer that starts with "ok"; an answer of another kind fails the test.
std::vector<std::string> words_of(const std::string& answer) {
  std::istringstream in(answer);
  std::string word;
  if (!(in >> word) || word != "ok") fail(answer);
  std::vector<std::string> words;
  while (in >> word) words.push_back(word);
  return words;
}

std::string only_word_of(const std::string& answer) {
  auto words = words_of(answer);
  if (words.size() != 1) fail("one word expected: " + answer);
  return words[0];
}

/// The code of an answer "error <Code> ..", nullopt for "ok".
std::optional<ErrorCode> code_of(const std::string& answer) {
  std::istringstream in(answer);
  std::string word;
  std::string code;
  in >> word >> code;
  if (word == "ok") return std::nullopt;
  const auto parsed = parse_error_code(code);
  if (word != "error" || !parsed) fail(answer);
  return parsed;
}

/// Commands are words on one line.
const std::string& one_word(const std::string& id) {
  if (id.empty() || id.find_first_of(" \t\r\n") != std::string::npos) fail("bad id: " + id);
  return id;
}

std::string counted(const char* command, int count, Duration lock_for) {
  return std::string(command) + ' ' + std::to_string(count) + ' ' +
         std::to_string(to_micros(lock_for));
}

}  // namespace

std::unique_ptr<Peer> Peer::spawn(const std::string& program,
                                  const std::string& url,
                                  TimePoint now) {
  int commands[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, commands) != 0) fail_errno("socketpair");
  Descriptor to_peer(commands[0]);
  Descriptor peer_stdin(commands[1]);
  int answers[2];
  if (::pipe2(answers, O_CLOEXEC) != 0) fail_errno("pipe2");
  Descriptor from_peer(answers[0]);
  Descriptor peer_stdout(answers[1]);

  std::string words[] = {program, url, std::to_string(to_micros(now))};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  const SpawnSettings settings(peer_stdin.get(), peer_stdout.get());
  pid_t pid = -1;
  const int error = ::posix_spawn(
      &pid, program.c_str(), settings.actions(), settings.attributes(), arguments, environ);
  if (error != 0) fail("cannot execute " + program + ": " + std::strerror(error));

  std::unique_ptr<Peer> peer(new Peer);
  peer->pid_ = pid;
  peer->to_peer_ = to_peer.release();
  peer->from_peer_ = from_peer.release();
  // Its end of the answers must be the only one, or its death would not be seen.
  ::close(peer_stdout.release());
  words_of(read_line(peer->from_peer_));
  return peer;
}

Peer::~Peer() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    int state = 0;
    while (::waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
    }
  }
  if (to_peer_ >= 0) ::close(to_peer_);
  if (from_peer_ >= 0) ::close(from_peer_);
}

std::string Peer::ask(const std::string& command) {
  if (pid_ <= 0) fail("it is dead: " + command);
  send_line(to_peer_, command);
  return read_line(from_peer_);
}

Epoch Peer::register_process() {
  return Epoch{std::stoll(only_word_of(ask("register")))};
}

std::vector<std::string> Peer::lock_instances(int count, Duration lock_for) {
  return words_of(ask(counted("lock", count, lock_for)));
}

std::vector<WorkId> Peer::claim_work(int count, Duration lock_for) {
  std::vector<WorkId> ids;
  for (const std::string& word : words_of(ask(counted("claim", count, lock_for)))) {
    ids.push_back(WorkId{std::stoll(word)});
  }
  return ids;
}

std::optional<ErrorCode> Peer::commit_turn(const std::string& id) {
  return code_of(ask("commit " + one_word(id)));
}

std::optional<ErrorCode> Peer::complete_work(WorkId id) {
  return code_of(ask("complete " + std::to_string(id.value)));
}

std::optional<ErrorCode> Peer::heartbeat() {
  return code_of(ask("heartbeat"));
}

void Peer::start_instance(const std::string& id) {
  words_of(ask("start " + one_word(id)));
}

int Peer::drain_instances() {
  return std::stoi(only_word_of(ask("drain")));
}

void Peer::advance(Duration step) {
  words_of(ask("advance " + std::to_string(to_micros(step))));
}

void Peer::kill() {
  if (pid_ <= 0) fail("it is dead: kill");
  if (::kill(pid_, SIGKILL) != 0) fail_errno("kill");
  const int state = wait_for_state(pid_, 0);
  pid_ = -1;
  if (!WIFSIGNALED(state) || WTERMSIG(state) != SIGKILL) fail("it ended before it was killed");
}

void Peer::stop() {
  if (pid_ <= 0) fail("it is dead: stop");
  if (::kill(pid_, SIGSTOP) != 0) fail_errno("stop");
  const int state = wait_for_state(pid_, WUNTRACED);
  if (WIFSTOPPED(state)) return;
  pid_ = -1;
  fail("it ended before it was stopped");
}

void Peer::resume() {
  if (pid_ <= 0) fail("it is dead: resume");
  if (::kill(pid_, SIGCONT) != 0) fail_errno("resume");
}

}  // namespace perdure::conformance
