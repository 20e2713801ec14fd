#include "cli/bench/cancel_board.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"

namespace perdure::bench {

namespace {

constexpr std::size_t kBegun = 0;
constexpr std::size_t kAwake = 1;
constexpr std::size_t kKinds = 2;
constexpr auto kBoardLook = std::chrono::milliseconds(1);

std::size_t words_for(std::int64_t handlers) {
  return kKinds * (1 + static_cast<std::size_t>(handlers));
}

Error no_board() {
  return unavailable(std::string("no memory for processes to share: ") + std::strerror(errno));
}

}  // namespace

Result<std::shared_ptr<CancelBoard>> CancelBoard::make(std::int64_t handlers) {
  // Without MFD_CLOEXEC: a process that is executed shall have it.
  const int descriptor = ::memfd_create("perdure-bench", 0);
  if (descriptor < 0) return no_board();
  const auto bytes = static_cast<off_t>(words_for(handlers) * sizeof(Word));
  if (::ftruncate(descriptor, bytes) != 0) {
    const Error error = no_board();
    ::close(descriptor);
    return error;
  }
  return map(descriptor, handlers);
}

Result<std::shared_ptr<CancelBoard>> CancelBoard::attach(int descriptor, std::int64_t handlers) {
  return map(descriptor, handlers);
}

Result<std::shared_ptr<CancelBoard>> CancelBoard::map(int descriptor, std::int64_t handlers) {
  const std::size_t bytes = words_for(handlers) * sizeof(Word);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) {
    const Error error = no_board();
    ::close(descriptor);
    return error;
  }
  // The system gives zeroes, which is what such a word begins with.
  return std::shared_ptr<CancelBoard>(
      new CancelBoard(descriptor, static_cast<Word*>(memory), handlers));
}

CancelBoard::~CancelBoard() {
  ::munmap(words_, words_for(handlers_) * sizeof(Word));
  ::close(descriptor_);
}

void CancelBoard::note_begin(std::int64_t handler) {
  note(kBegun, handler);
}

void CancelBoard::note_awake(std::int64_t handler) {
  note(kAwake, handler);
}

void CancelBoard::note(std::size_t kind, std::int64_t handler) {
  std::int64_t never = 0;
  const std::int64_t now = steady_now().time_since_epoch().count();
  if (time(kind, handler).compare_exchange_strong(never, now)) ++words_[kind];
}

CancelBoard::Word& CancelBoard::time(std::size_t kind, std::int64_t handler) const {
  PERDURE_CHECK(handler >= 0 && handler < handlers_, "a handler of the board");
  return words_[kKinds * (1 + static_cast<std::size_t>(handler)) + kind];
}

bool CancelBoard::wait_for_begun(std::int64_t handlers, std::chrono::nanoseconds at_most) const {
  return wait_for(kBegun, handlers, at_most);
}

bool CancelBoard::wait_for_awake(std::int64_t handlers, std::chrono::nanoseconds at_most) const {
  return wait_for(kAwake, handlers, at_most);
}

bool CancelBoard::wait_for(std::size_t kind,
                           std::int64_t handlers,
                           std::chrono::nanoseconds at_most) const {
  const SteadyTime until = steady_now() + at_most;
  while (words_[kind].load() < handlers) {
    if (steady_now() >= until) return false;
    std::this_thread::sleep_for(kBoardLook);
  }
  return true;
}

std::optional<CancelBoard::SteadyTime> CancelBoard::awake_at(std::int64_t handler) const {
  const std::int64_t at = time(kAwake, handler).load();
  if (at == 0) return std::nullopt;
  return SteadyTime(SteadyTime::duration(at));
}

}  // namespace perdure::bench
