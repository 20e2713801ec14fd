#include <algorithm>

#include "replay/execution.h"

namespace perdure::replay {

namespace {

constexpr std::size_t kNodeBytes = 64;  // of a map, with a key and a reference

std::size_t kept_signal_bytes(const MessageParts& parts) {
  std::size_t bytes = 0;
  for (const auto& [event, signal] : parts.kept) {
    bytes += kNodeBytes + sizeof(signal) + signal.payload.size();
  }
  return bytes;
}

}  // namespace

std::size_t Execution::bytes() const {
  const RareParts& rare = rare_.peek();
  const std::size_t nodes = ops_.size() + tasks_.size() + rare.limits.size() +
                            rare.limit_of.size() + rare.patches.size() + rare.locals.size();
  const auto code = static_cast<std::size_t>(std::max<std::int64_t>(code_bytes_, 0));
  return sizeof(Execution) + rare_.bytes() + ending_.bytes() + code + nodes * kNodeBytes +
         tasks_.size() * sizeof(detail::ScopeState) + rare.messages.bytes() +
         kept_signal_bytes(rare.messages.peek()) + rare.inbox.bytes() + rare.undos.bytes();
}

}  // namespace perdure::replay
