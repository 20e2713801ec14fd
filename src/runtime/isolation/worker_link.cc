#include "runtime/isolation/worker_link.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <limits>
#include <sys/socket.h>

namespace perdure::runtime {

namespace {

constexpr int kWorkerGoneCode = 69;

}  // namespace

/// A worker sends what it was given: the store has bounded it.
WorkerLink::WorkerLink(int socket)
    : socket_(socket), reader_(std::numeric_limits<std::size_t>::max()) {}

void WorkerLink::send(const Frame& frame) {
  const std::string bytes = to_bytes(frame);
  std::string_view rest = bytes;
  const std::lock_guard lock(sending_);
  while (!rest.empty()) {
    const auto sent = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) std::_Exit(kWorkerGoneCode);
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

Frame WorkerLink::receive() {
  for (;;) {
    if (auto frame = reader_.next()) return std::move(*frame);
    std::array<char, 65'536> piece{};
    const auto got = ::recv(socket_.get(), piece.data(), piece.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) std::_Exit(kWorkerGoneCode);
    reader_.add({piece.data(), static_cast<std::size_t>(got)});
  }
}

}  // namespace perdure::runtime
