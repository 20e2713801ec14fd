#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace perdure::sqlite::soak {

enum class What : std::uint8_t { kStart = 1, kRaise, kCancel, kTurn, kWork };

/// Where a write stands for its caller. One that was begun and never answered may have happened.
enum class Known : std::uint8_t { kBegun = 1, kAcknowledged, kRefused };

/// The process that is killed again and again, and the one beside it.
enum class Side : std::uint8_t { kVictim, kCompanion };

/// One write, noted before it is submitted.
struct Note {
  What what = What::kStart;
  Side by = Side::kVictim;
  char flavour = 0;            ///< of the run
  std::int64_t run = 0;        ///< kRaise, kCancel: number of the note of the run's start
  std::int64_t instance = 0;   ///< kTurn, kWork
  std::int64_t execution = 0;  ///< kTurn, kWork
  std::int64_t event = 0;      ///< kTurn: its first event; kWork: the call
  std::int64_t events = 0;     ///< kTurn: how many it writes
  std::int64_t epoch = 0;      ///< kTurn: its lock
  std::int64_t serial = 0;
};

struct NumberedNote {
  std::int64_t number = 0;
  Known known = Known::kBegun;
  Note note;
};

/// What callers know of their writes, kept where no kill can take it: in a file that every process
/// maps. A note is numbered; ids and payloads of the write are made of its number, so that what
/// lies in the store can be told apart.
///
/// Threading: any thread of any process.
/// Crash: a note whose writer was killed before it was complete is not there.
class Ledger {
 public:
  /// Makes the file when it is missing.
  explicit Ledger(const std::string& path);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  /// No further client calls shall begin: the file is nearly full.
  bool full() const;

  std::int64_t begin(const Note& note);
  void set(std::int64_t number, Known known);

  /// All notes that are complete by now.
  std::vector<NumberedNote> read() const;

  /// How one side stands at this moment.
  struct Standing {
    std::atomic<std::int32_t> ready{0};       ///< it has opened the store
    std::atomic<std::int32_t> unanswered{0};  ///< writes between their submission and their answer
    std::atomic<std::int32_t> writing{0};     ///< its connections that hold the write lock
  };
  Standing& standing(Side side);

 private:
  struct Slot;
  struct File;

  File* file_;
};

}  // namespace perdure::sqlite::soak
