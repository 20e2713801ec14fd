// A tour of the store: start a run, lock it in a second process, kill that process, take over.
//
// The second process is this program again (fork and exec), killed by a real SIGKILL. What it had
// locked is free as soon as the kernel says that it is dead; nothing that was stored is lost.

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "provider/open/open.h"
#include "provider/token_mint.h"

namespace {

using namespace perdure;

template <class T>
T must(Result<T> result, const char* what) {
  if (result.ok()) return std::move(result).value();
  std::cerr << what << ": " << result.error().message << "\n";
  std::exit(1);
}

TokenMint register_me(Provider& store) {
  RegisterProcess me{.host = "localhost", .pid = ::getpid(), .queues = {"default"}};
  return TokenMint(must(store.register_process(me), "register"));
}

std::vector<OrchestrationItem> lock_one(Provider& store, TokenMint& mint) {
  FetchOrchestrationItems fetch;
  fetch.epoch = mint.epoch();
  fetch.queue = "default";
  fetch.served = {{"checkout", "1"}};
  fetch.tokens = mint.next(1);
  return must(store.fetch_orchestration_items(fetch), "fetch").items;
}

/// The second process: locks the run, says so, and waits to be killed.
int run_victim(const std::string& url) {
  auto store = must(open_provider(url), "open");
  TokenMint mint = register_me(*store);
  const auto items = lock_one(*store, mint);
  std::cout << (items.empty() ? "nothing" : items[0].id) << std::endl;
  for (;;) ::pause();
}

/// Starts the second process and reads the one line that it prints.
std::pair<pid_t, std::string> spawn_victim(const std::string& url) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) std::exit(1);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe[1], STDOUT_FILENO);
    ::close(pipe[0]);
    ::close(pipe[1]);
    ::execl("/proc/self/exe", "provider_tour", "--victim", url.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(pipe[1]);
  std::string line;
  for (char c = 0; ::read(pipe[0], &c, 1) == 1 && c != '\n';) line += c;
  ::close(pipe[0]);
  return {child, line};
}

void say(const std::string& line) {
  std::cout << line << std::endl;
}

/// Commits the end of the run and answers whether the store took it.
bool complete(Provider& store, const OrchestrationItem& item) {
  TurnCommit turn;
  turn.instance = item.instance;
  turn.execution = item.execution;
  turn.lock = item.lock;
  HistoryEvent done;
  done.id = EventId{item.last_event.value + 1};
  done.kind = EventKind::kCompleted;
  done.payload = "\"shipped\"";
  turn.events.push_back(done);
  turn.status = ExecutionStatus::kCompleted;
  turn.output = done.payload;
  AckOrchestrationItems ack;
  ack.entries.push_back(turn);
  return must(store.ack_orchestration_items(ack), "commit").at(0).ok();
}

int run_tour(const std::string& url) {
  auto store = must(open_provider(url), "open");
  StartOrchestration start;
  start.id = "order-42";
  start.name = "checkout";
  start.version = "1";
  start.input = R"({"cents": 1999})";
  must(store->start_orchestration(start), "start");
  say("start      order-42 is stored: instance, history and first message in one commit");

  const auto [victim, locked] = spawn_victim(url);
  say("lock       process " + std::to_string(victim) + " has locked " + locked);

  TokenMint mint = register_me(*store);
  if (!lock_one(*store, mint).empty()) return 1;
  say("wait       this process asks for work and gets none: the lock is exclusive");

  ::kill(victim, SIGKILL);
  int status = 0;
  ::waitpid(victim, &status, 0);
  if (!WIFSIGNALED(status)) return 1;
  say("kill       process " + std::to_string(victim) + " was killed by signal " +
      std::to_string(WTERMSIG(status)));

  bool taken = false;
  for (const ProcessInfo& process : must(store->list_processes(), "list processes")) {
    if (!process.lock_released) continue;
    const auto ended = must(store->take_over({.epoch = process.epoch}), "take over");
    say("take over  the kernel has released its lock: " + std::to_string(ended.freed_locks) +
        " instance freed at once, without waiting for the lease");
    taken = true;
  }
  const auto items = lock_one(*store, mint);
  if (!taken || items.empty()) return 1;
  say("go on      locked here, with " + std::to_string(items[0].losses) +
      " loss on record; the start message is still there");
  if (!complete(*store, items[0])) return 1;
  const auto info = must(store->get_instance("order-42"), "get");
  say("done       order-42 is " + std::string(to_string(info.current.status)) + ": " +
      info.current.output);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--victim") return run_victim(argv[2]);
  std::string folder = (std::filesystem::temp_directory_path() / "perdure-tour-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::cerr << "no temporary folder can be made at " << folder << "\n";
    return 1;
  }
  const int result = run_tour("sqlite:" + folder + "/tour.db");
  std::filesystem::remove_all(folder);
  if (result != 0) std::cerr << "the tour did not go as it should\n";
  return result;
}
