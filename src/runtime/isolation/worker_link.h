#pragma once

#include <mutex>
#include <string>

#include "runtime/isolation/descriptor.h"
#include "runtime/isolation/frame.h"

namespace perdure::runtime {

/// The socket to the worker, as the process of an attempt has it. When the worker is gone this
/// process has nobody to work for: each call ends it then, and nothing is flushed.
/// Threading: `send` on any thread, whole frames; `receive` on one at a time.
class WorkerLink {
 public:
  explicit WorkerLink(int socket);

  /// Blocks while the worker does not read.
  void send(const Frame& frame);
  /// Blocks until the next frame has come. BadFrame.
  Frame receive();

 private:
  const Descriptor socket_;
  std::mutex sending_;
  FrameReader reader_;
};

}  // namespace perdure::runtime
