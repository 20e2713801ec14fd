#include "runtime/isolation/frame.h"

#include <cstring>

namespace perdure::runtime {

namespace {

using BodyLength = std::uint64_t;
constexpr std::size_t kHeadBytes = sizeof(BodyLength) + 1;

FrameKind frame_kind_of(char byte) {
  const auto raw = static_cast<std::uint8_t>(byte);
  if (raw < static_cast<std::uint8_t>(FrameKind::kBegin) ||
      raw > static_cast<std::uint8_t>(FrameKind::kCanceled)) {
    throw BadFrame("a frame of the unknown kind " + std::to_string(raw));
  }
  return static_cast<FrameKind>(raw);
}

}  // namespace

std::string to_bytes(const Frame& frame) {
  const BodyLength length = frame.body.size();
  std::string bytes(kHeadBytes, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes[sizeof length] = static_cast<char>(frame.kind);
  return bytes += frame.body;
}

void FrameReader::add(std::string_view bytes) {
  bytes_.erase(0, begin_);
  begin_ = 0;
  bytes_ += bytes;
}

std::optional<Frame> FrameReader::next() {
  const std::size_t there = bytes_.size() - begin_;
  if (there < kHeadBytes) return std::nullopt;
  BodyLength length = 0;
  std::memcpy(&length, bytes_.data() + begin_, sizeof length);
  const FrameKind kind = frame_kind_of(bytes_[begin_ + sizeof length]);
  if (length > longest_) {
    throw BadFrame("a frame of " + std::to_string(length) + " bytes, " + std::to_string(longest_) +
                   " is the limit");
  }
  if (there - kHeadBytes < length) return std::nullopt;
  Frame frame{kind, bytes_.substr(begin_ + kHeadBytes, length)};
  begin_ += kHeadBytes + length;
  return frame;
}

}  // namespace perdure::runtime
