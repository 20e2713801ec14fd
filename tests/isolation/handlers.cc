#include "tests/isolation/handlers.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <spawn.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/time.h"

namespace perdure::test {

void write_pid(const std::string& path, pid_t pid) {
  std::ofstream(path + ".part") << pid << std::flush;
  std::filesystem::rename(path + ".part", path);
}

namespace {

void leave_no_core() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

/// Also in a program that a sanitizer has given handlers.
[[noreturn]] void segfault() {
  leave_no_core();
  std::signal(SIGSEGV, SIG_DFL);
  void* const page = ::mmap(nullptr, 4'096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
  std::_Exit(1);
}

std::string end_in_a_way(const std::string& how) {
  if (how == "segfault") segfault();
  if (how == "exit") std::_Exit(3);
  if (how == "killed") ::kill(::getpid(), SIGKILL);
  if (how == "failed") {
    throw Failed(Failure{"gateway", "no answer", true, R"({"port":80})"});
  }
  if (how == "final") throw Failed("card", "declined", false);
  if (how == "standard") throw std::runtime_error("a plain exception");
  if (how == "refused") throw InvalidArgument("a bad call");
  if (how == "number") throw 7;
  if (how == "canceled") throw Canceled("at will");
  return how;
}

std::string described(ActivityContext& ctx) {
  const auto deadline = ctx.deadline();
  return ctx.instance_id() + "," + std::to_string(ctx.execution()) + "," + ctx.orchestration() +
         "," + ctx.orchestration_version() + "," + ctx.name() + "," +
         std::to_string(ctx.event_id()) + "," + std::to_string(ctx.attempt()) + "," +
         ctx.idempotency_key() + "," + ctx.worker() + "," +
         (deadline ? std::to_string(to_micros(*deadline)) : "none") + "," +
         ctx.heartbeat_details<std::string>().value_or("nothing") + "," + ctx.cancel_reason() +
         (ctx.is_cancellation_requested() ? "!" : "");
}

int beat_or_tell(ActivityContext& ctx, int times) {
  if (ctx.attempt() > 1) return ctx.heartbeat_details<int>().value_or(-1);
  for (int i = 1; i <= times; ++i) ctx.heartbeat(i);
  throw Failed("broken", "after its heartbeats");
}

void loop_for_ever(const std::string& path) {
  write_pid(path, ::getpid());
  for (volatile bool stuck = true; stuck;) {
  }
}

std::string read_for_ever(ActivityContext& ctx, const std::string& path) {
  std::array<int, 2> silent{};
  if (::pipe(silent.data()) != 0) throw std::runtime_error("no pipe");
  write_pid(path, ::getpid());
  char byte = 0;
  if (::read(silent[0], &byte, 1) < 0 && errno == EINTR) {
    return "interrupted: " + ctx.wait_until_canceled();
  }
  return "read";
}

void leave_a_process(const std::string& path) {
  std::string program = "sleep";
  std::string seconds = "600";
  const std::array<char*, 3> arguments{program.data(), seconds.data(), nullptr};
  pid_t left = -1;
  if (::posix_spawnp(&left, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) {
    throw std::runtime_error("cannot execute sleep");
  }
  write_pid(path, left);
}

std::string open_descriptors() {
  std::set<int> open;
  for (int i = 0; i < 1'024; ++i) {
    std::error_code none;
    if (std::filesystem::is_symlink("/proc/self/fd/" + std::to_string(i), none)) open.insert(i);
  }
  std::string text;
  for (const int each : open) text += std::to_string(each) + " ";
  return text;
}

}  // namespace

Registry isolated_handlers() {
  const HandlerOptions isolated{.isolation = Isolation::kProcess};
  Registry registry;
  registry.add(echo, [](std::string text) { return text; }, isolated);
  registry.add(describe, described, isolated);
  registry.add(own_pid, [] { return static_cast<int>(::getpid()); }, isolated);
  registry.add(end_so, end_in_a_way, isolated);
  registry.add(beat, beat_or_tell, isolated);
  registry.add(deaf, loop_for_ever, isolated);
  registry.add(
      listening,
      [](ActivityContext& ctx, const std::string& path) {
        write_pid(path, ::getpid());
        for (;;) ctx.sleep_for(std::chrono::hours(1));
      },
      isolated);
  registry.add(
      beating,
      [](ActivityContext& ctx, const std::string& path) {
        write_pid(path, ::getpid());
        for (int i = 0;; ++i) ctx.heartbeat(i);
      },
      isolated);
  registry.add(
      interruptible, read_for_ever, {.isolation = Isolation::kProcess, .interruptible = true});
  registry.add(uninterruptible, read_for_ever, isolated);
  registry.add(breeding, leave_a_process, isolated);
  registry.add(descriptors, open_descriptors, isolated);
  return registry;
}

}  // namespace perdure::test
