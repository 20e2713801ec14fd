#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <string>
#include <string_view>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <perdure/detail/user_error.h>
#include <perdure/errors.h>
#include <perdure/isolation.h>

#include "runtime/isolation/frame.h"
#include "runtime/isolation/inner_attempt.h"
#include "runtime/isolation/messages.h"
#include "runtime/isolation/program.h"
#include "runtime/isolation/worker_link.h"

namespace perdure::detail {

namespace {

using runtime::BadFrame;
using runtime::BeginMessage;
using runtime::Frame;
using runtime::FrameKind;
using runtime::InnerAttempt;
using runtime::WorkerLink;

constexpr int kMisusedCode = 64;
constexpr int kBrokenCode = 70;

[[noreturn]] void leave(const char* why, int code) {
  std::fprintf(stderr, "perdure: the process of an activity ends: %s\n", why);
  std::_Exit(code);
}

/// The kernel ends this process with the thread of the worker that waits for it.
void end_with_worker(const std::string& worker) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have died before: then another is the parent.
  if (std::to_string(::getppid()) != worker) leave("its worker is gone", kMisusedCode);
  // Not for what the handler executes.
  if (::fcntl(runtime::kIsolatedSocket, F_SETFD, FD_CLOEXEC) != 0) {
    leave("it was not started by a worker", kMisusedCode);
  }
}

extern "C" void perdure_on_terminate(int) {}

/// SIGTERM wakes blocking calls and does nothing else: the reason comes by the socket. When the
/// signal comes from elsewhere, as when a whole service is stopped, the worker has it too, and
/// decides how long its handlers may take.
void hear_terminate(bool interruptible) {
  struct sigaction action {};
  action.sa_handler = perdure_on_terminate;
  action.sa_flags = interruptible ? 0 : SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTERM, &action, nullptr);
}

/// Hears the worker to the end of the process.
void listen_to(WorkerLink& link, InnerAttempt& attempt) {
  try {
    for (;;) {
      const Frame frame = link.receive();
      if (frame.kind == FrameKind::kStop) attempt.stop(frame.body);
    }
  } catch (const std::exception& error) {
    leave(error.what(), kBrokenCode);
  }
}

/// Signals are for the thread of the handler.
void start_listening(WorkerLink& link, InnerAttempt& attempt) {
  sigset_t all;
  sigset_t former;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &former);
  std::thread([&link, &attempt] { listen_to(link, attempt); }).detach();
  ::pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

BeginMessage receive_begin(WorkerLink& link) {
  link.send({FrameKind::kHello, {}});
  const Frame frame = link.receive();
  if (frame.kind != FrameKind::kBegin) throw BadFrame("no attempt to begin with");
  return runtime::begin_of(frame.body);
}

Frame outcome_of(const ActivityHandler& handler, InnerAttempt& attempt, const std::string& input) {
  try {
    return {FrameKind::kResult, handler(attempt, input)};
  } catch (const Canceled& canceled) {
    return {FrameKind::kCanceled, canceled.reason().substr(0, kMostFailureBytes)};
  } catch (...) {
    return {FrameKind::kFailure, runtime::failure_body(failure_of(std::current_exception()))};
  }
}

Frame missing_handler(const std::string& activity) {
  Failure failure;
  failure.type = kIsolationFailure;
  failure.message = "activity '" + activity +
                    "' is not in the registry of its process: add it before pd::isolated_main";
  failure.retryable = false;
  return {FrameKind::kFailure, runtime::failure_body(failure)};
}

void flush_output() noexcept {
  try {
    std::cout.flush();
    std::cerr.flush();
    std::clog.flush();
  } catch (const std::exception&) {  // a stream that throws: its text is lost, the result is not
  }
  std::fflush(nullptr);
}

/// The worker kills this process when it has the outcome: all else comes before.
void run_one(const HandlerTable& handlers) {
  WorkerLink link(runtime::kIsolatedSocket);
  const BeginMessage message = receive_begin(link);
  const std::string& activity = message.info.activity;
  const ActivityHandler* handler = handlers.find_activity(activity);
  if (handler == nullptr) return link.send(missing_handler(activity));
  hear_terminate(handlers.activity_options(activity).interruptible);
  InnerAttempt attempt(link, message.info);
  start_listening(link, attempt);
  const Frame outcome = outcome_of(*handler, attempt, message.input);
  flush_output();
  link.send(outcome);
  std::_Exit(0);  // here: the listener uses what this frame owns
}

}  // namespace

void isolated_main(int argc, char** argv, const HandlerTable& handlers) {
  if (argc < 2 || std::string_view(argv[1]) != runtime::kIsolatedArgument) {
    return runtime::announce_program(argc > 0 ? argv[0] : "perdure");
  }
  end_with_worker(argc > 2 ? argv[2] : "");
  try {
    run_one(handlers);
  } catch (const std::exception& error) {
    leave(error.what(), kBrokenCode);
  }
  std::_Exit(0);
}

}  // namespace perdure::detail
