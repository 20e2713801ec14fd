#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace perdure::runtime {

/// What is said between a worker and the process of an isolated handler. Both are the same
/// executable: nothing of it is stored or read by another version.
enum class FrameKind : std::uint8_t {
  // To the process.
  kBegin = 1,  ///< the attempt and its input
  kStop = 2,   ///< the reason
  // From the process.
  kHello = 3,      ///< isolated_main was called; empty
  kHeartbeat = 4,  ///< the details
  kResult = 5,     ///< the last one
  kFailure = 6,    ///< the last one
  kCanceled = 7,   ///< the last one: the handler threw `Canceled`; the reason
};

struct Frame {
  FrameKind kind = FrameKind::kHello;
  std::string body;

  bool operator==(const Frame&) const = default;
};

/// What came is no frame, or none that may come.
struct BadFrame : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Length of the body, kind, body.
std::string to_bytes(const Frame& frame);

/// Finds frames in bytes that come in pieces of any size. A value; one thread.
class FrameReader {
 public:
  /// BadFrame for a body above `longest`, before memory is taken for it.
  explicit FrameReader(std::size_t longest) : longest_(longest) {}

  void add(std::string_view bytes);
  /// The next frame, or nothing before all of it has come. BadFrame: nothing can be read any more.
  std::optional<Frame> next();

 private:
  std::size_t longest_;
  std::string bytes_;
  std::size_t begin_ = 0;  // of what was not given out
};

}  // namespace perdure::runtime
