#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "provider/sqlite/connection.h"

namespace perdure::sqlite {

/// Copies the write-ahead log into the database and keeps it short, away from the writer.
///
/// Whenever enough pages wait in the log they are copied on a connection of its own; neither
/// writers nor readers notice. The log begins anew only when nobody has written past what was
/// copied, which under constant load never happens by itself: when it gets long the writer is held
/// between two groups, for as long as the rest is copied and readers of the log need to end. When
/// it gets twice as long nevertheless, the writer waits for that. A reader that does not end lets
/// the log grow; it is tried again each time the log is a quarter longer.
///
/// Threading: `watch` and `make_way` on the thread that writes; the rest on any.
class Checkpointer {
 public:
  struct Options {
    /// True: a thread of its own; false: `run_pending` does it.
    bool thread = true;
    /// The log has grown by so many pages: copy it.
    std::int64_t copy_pages = 4'000;
    /// The log has so many pages: begin it anew.
    std::int64_t restart_pages = 16'000;
    /// How long the writer is held for readers of the log.
    std::chrono::milliseconds reader_patience = std::chrono::milliseconds(50);
    /// Opens the store. Throws SqliteError.
    std::function<std::unique_ptr<Connection>()> open;
  };

  /// Opens its connection at once: the last one to be closed, it leaves no log behind.
  explicit Checkpointer(Options options);
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;
  /// Ends a copy under way. The writer must be gone.
  ~Checkpointer();

  /// Hears from each commit of this connection how long the log is, until it is closed.
  void watch(Connection& writer);

  /// Waits while the log begins anew; before each group, with no transaction open.
  void make_way();

  /// Does what is due and answers whether anything was; nothing with a thread.
  bool run_pending();

  /// Nobody is held or waited for any more; nothing is copied from now on.
  void stop();

 private:
  enum class Mode : std::uint8_t { kPassive, kRestart };
  struct Progress {
    bool complete = false;   // kRestart: the next commit begins the log anew
    std::int64_t pages = 0;  // in the log
  };

  static int committed(void* self, struct sqlite3* db, const char* name, int pages);
  static int wait_for_others(void* self, int tries);
  void note_length(std::int64_t pages);
  void run_thread();
  void run() noexcept;
  void connect();
  void copy();
  Progress checkpoint(Mode mode);
  std::int64_t held_at() const { return 2 * restart_at_; }

  const Options options_;

  std::mutex run_mutex_;  // held while copying
  // Guarded by run_mutex_.
  std::unique_ptr<Connection> db_;  // null when it could not be opened
  std::chrono::steady_clock::time_point patience_ends_{};

  std::mutex mutex_;
  std::condition_variable moved_;
  // Guarded by mutex_.
  std::int64_t pages_ = 0;   // in the log, as far as is known
  std::int64_t copied_ = 0;  // pages_ when it was copied last, as far as readers let it
  std::int64_t restart_at_;
  bool wanted_ = false;
  bool restarting_ = false;

  std::atomic<bool> stopped_{false};  // written with mutex_ held
  std::thread thread_;
};

}  // namespace perdure::sqlite
