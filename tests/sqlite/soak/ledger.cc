#include "tests/sqlite/soak/ledger.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace perdure::sqlite::soak {

namespace {

constexpr std::int64_t kSlots = 200'000;
/// Turns and work of runs that were begun must still find room.
constexpr std::int64_t kFull = 20'000;

}  // namespace

struct Ledger::Slot {
  std::atomic<std::uint8_t> known;  // 0: nothing, or not complete
  Note note;
};

struct Ledger::File {
  std::atomic<std::int64_t> next;
  std::array<Standing, 2> standings;
  std::array<Slot, kSlots> slots;
};

Ledger::Ledger(const std::string& path) {
  // A file of zeros is an empty ledger.
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(File)) != 0) {
    throw std::runtime_error("cannot make " + path + ": " + std::strerror(errno));
  }
  void* const mapped = ::mmap(nullptr, sizeof(File), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED) throw std::runtime_error("cannot map " + path);
  file_ = static_cast<File*>(mapped);
}

Ledger::~Ledger() {
  ::munmap(file_, sizeof(File));
}

bool Ledger::full() const {
  return file_->next >= kFull;
}

std::int64_t Ledger::begin(const Note& note) {
  const std::int64_t number = file_->next.fetch_add(1);
  if (number >= kSlots) throw std::runtime_error("the ledger is full");
  Slot& slot = file_->slots.at(static_cast<std::size_t>(number));
  slot.note = note;
  slot.known.store(static_cast<std::uint8_t>(Known::kBegun), std::memory_order_release);
  return number;
}

void Ledger::set(std::int64_t number, Known known) {
  Slot& slot = file_->slots.at(static_cast<std::size_t>(number));
  slot.known.store(static_cast<std::uint8_t>(known), std::memory_order_release);
}

std::vector<NumberedNote> Ledger::read() const {
  std::vector<NumberedNote> all;
  const std::int64_t end = std::min(file_->next.load(), kSlots);
  for (std::int64_t number = 0; number < end; ++number) {
    const Slot& slot = file_->slots.at(static_cast<std::size_t>(number));
    const std::uint8_t known = slot.known.load(std::memory_order_acquire);
    if (known != 0) all.push_back({number, static_cast<Known>(known), slot.note});
  }
  return all;
}

Ledger::Standing& Ledger::standing(Side side) {
  return file_->standings.at(static_cast<std::size_t>(side));
}

}  // namespace perdure::sqlite::soak
