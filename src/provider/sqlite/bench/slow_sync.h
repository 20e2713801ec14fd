#pragma once

#include <chrono>
#include <memory>

namespace perdure::sqlite {

/// A file system whose every sync takes longer, like a disk that really writes. It is SQLite's
/// default one while this object lives: stores that are opened meanwhile use it and must be closed
/// before. One at a time. Threading: made and destroyed while no store is being opened.
class SlowSync {
 public:
  /// `extra` is slept in front of each sync of a file.
  explicit SlowSync(std::chrono::microseconds extra);
  SlowSync(const SlowSync&) = delete;
  SlowSync& operator=(const SlowSync&) = delete;
  ~SlowSync();

  /// Syncs that were slowed down.
  std::int64_t count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perdure::sqlite
