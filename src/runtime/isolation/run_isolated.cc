#include "runtime/isolation/run_isolated.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <limits>
#include <optional>
#include <poll.h>
#include <stop_token>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <utility>

#include <perdure/errors.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/time.h"
#include "runtime/isolation/frame.h"
#include "runtime/isolation/messages.h"
#include "runtime/isolation/not_started.h"
#include "runtime/isolation/program.h"
#include "runtime/isolation/spawned_process.h"

namespace perdure::runtime {

namespace {

using std::chrono::milliseconds;

/// From the end of its socket to its own.
constexpr milliseconds kLongestDying{500};
constexpr std::size_t kOnePiece = 65'536;
constexpr int kPiecesAtOnce = 16;
/// The longest that is no payload: a failure with three texts.
constexpr std::size_t kMargin = 4 * kMostFailureBytes;

std::size_t longest_frame(std::size_t max_payload_bytes) {
  return std::min(max_payload_bytes, std::numeric_limits<std::size_t>::max() - kMargin) + kMargin;
}

std::string announced_name() {
  if (auto name = announced_program()) return *name;
  throw Failed(kIsolationFailure,
               std::string("the activity is to run in a process of its own: ") + kCallIsolatedMain,
               false);
}

/// One attempt in its process, seen from the worker. Nothing here blocks but `wait`.
class IsolatedRun {
 public:
  IsolatedRun(Attempt& attempt, const ProcessLimits& limits)
      : attempt_(attempt),
        limits_(limits),
        told_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        process_(announced_name()),
        reader_(longest_frame(attempt.info().max_payload_bytes)) {
    if (told_.get() < 0) throw NotStarted("no descriptor for an eventfd");
    unsent_ = to_bytes({FrameKind::kBegin, begin_body(attempt.info(), attempt.item().work.input)});
  }

  std::string run() {
    const std::stop_callback told(attempt_.alarm(), [this]() noexcept {
      const std::uint64_t one = 1;
      [[maybe_unused]] const auto written = ::write(told_.get(), &one, sizeof one);
    });
    for (;;) {
      wait();
      if (!stopping_ && attempt_.alarm().stop_requested()) tell();
      send();
      if (has_ended_) process_.end();  // now what it has sent is all that will come
      if (auto result = receive()) return std::move(*result);
      if (has_ended_) die();
      if (limit_ && steady_now() >= *limit_) give_up();
    }
  }

 private:
  void wait() {
    // Once it is told, the alarm would only wake it again and again.
    std::array<pollfd, 3> sources{{
        {.fd = process_.socket(), .events = POLLIN, .revents = 0},
        {.fd = process_.ended(), .events = POLLIN, .revents = 0},
        {.fd = stopping_ ? -1 : told_.get(), .events = POLLIN, .revents = 0},
    }};
    if (!unsent_.empty()) sources[0].events |= POLLOUT;
    if (::poll(sources.data(), sources.size(), milliseconds_left()) <= 0) return;
    // Its last words are read before its end counts: they were sent before it.
    has_ended_ = sources[1].revents != 0;
  }

  int milliseconds_left() const {
    if (!limit_) return -1;
    constexpr milliseconds kLongest = std::chrono::hours(1);
    const auto left = std::chrono::ceil<milliseconds>(*limit_ - steady_now());
    return static_cast<int>(std::clamp(left, milliseconds(0), kLongest).count());
  }

  void tell() {
    stopping_ = true;
    unsent_ += to_bytes({FrameKind::kStop, attempt_.cancel_reason()});
    send();  // the reason comes before the signal
    process_.terminate();
    const Duration all =
        attempt_.stopped_by() == StopCause::kShutdown ? limits_.shutdown_grace : limits_.grace;
    const Duration left = std::min(all, kLongestWait) - attempt_.told_for();
    limit_ = steady_now() + std::max(left, Duration::zero());
  }

  void send() {
    while (!unsent_.empty()) {
      const auto sent = ::send(
          process_.socket(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return;
      if (sent < 0) return unsent_.clear();  // it has ended, as will be read
      unsent_.erase(0, static_cast<std::size_t>(sent));
    }
  }

  /// What has come; of a process that lives not more than a few pieces, or one that only beats its
  /// heart would never be told to stop. The result, if it is there.
  std::optional<std::string> receive() {
    std::string piece(kOnePiece, '\0');
    for (int pieces = 0; has_ended_ || pieces < kPiecesAtOnce; ++pieces) {
      const auto got = ::recv(process_.socket(), piece.data(), piece.size(), MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return std::nullopt;
      if (got <= 0) {
        has_ended_ = true;
        return std::nullopt;
      }
      reader_.add({piece.data(), static_cast<std::size_t>(got)});
      while (auto frame = reader_.next()) {
        if (auto result = take(std::move(*frame))) return result;
      }
    }
    return std::nullopt;
  }

  std::optional<std::string> take(Frame frame) {
    switch (frame.kind) {
      case FrameKind::kHello:
        began_ = true;
        if (!stopping_) limit_.reset();
        return std::nullopt;
      case FrameKind::kHeartbeat:
        attempt_.heartbeat(std::move(frame.body));
        return std::nullopt;
      case FrameKind::kResult:
        return std::move(frame.body);
      case FrameKind::kFailure:
        throw Failed(failure_in(frame.body));
      case FrameKind::kCanceled:
        throw Canceled(std::move(frame.body));
      case FrameKind::kBegin:
      case FrameKind::kStop:
        break;
    }
    throw BadFrame("a frame that only a worker sends");
  }

  [[noreturn]] void die() {
    const ProcessEnd end = process_.end(kLongestDying);
    if (stopping_ && end.signal == SIGTERM) throw Canceled(attempt_.cancel_reason());
    const std::string how = "the process of the activity ended " + end.text();
    if (began_ || end.signal != 0) {
      throw Failed(kProcessDiedFailure, how + (end.signal != 0 ? "" : " before it gave a result"));
    }
    throw Failed(kIsolationFailure, how + " before it began: " + kCallIsolatedMain);
  }

  [[noreturn]] void give_up() {
    const pid_t pid = process_.pid();
    process_.end();
    if (!stopping_) {
      throw Failed(kIsolationFailure,
                   std::string("the process of the activity did not begin: ") + kCallIsolatedMain);
    }
    log::warning("the process of an activity has not stopped in time: it was killed",
                 {{"instance", attempt_.instance_id()},
                  {"activity", attempt_.activity()},
                  {"attempt", attempt_.attempt()},
                  {"reason", attempt_.cancel_reason()},
                  {"pid", pid}});
    throw Canceled(attempt_.cancel_reason());
  }

  Attempt& attempt_;
  const ProcessLimits limits_;
  const Descriptor told_;
  SpawnedProcess process_;
  FrameReader reader_;
  std::string unsent_;
  std::optional<std::chrono::steady_clock::time_point> limit_ = steady_now() + limits_.silence;
  bool began_ = false;
  bool stopping_ = false;
  bool has_ended_ = false;
};

}  // namespace

std::string run_isolated(Attempt& attempt, const ProcessLimits& limits) {
  try {
    return IsolatedRun(attempt, limits).run();
  } catch (const BadFrame& bad) {
    throw Failed(kProcessDiedFailure,
                 std::string("the process of the activity sent what cannot be read: ") +
                     bad.what());
  }
}

}  // namespace perdure::runtime
