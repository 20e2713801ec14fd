#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"

namespace perdure::sqlite::power {

/// How a loss of power treats what was not synced. Each decision is made per sector.
struct Tear {
  std::size_t sector = 512;
  /// Of 4: how many of the changes survive; 0 keeps none, 4 all.
  unsigned kept = 0;
  /// What lies in a sector that became part of the file and was never written: zeros or anything.
  bool garbage = false;
};

/// A file of a disk with a cache: what was synced, and the changes since.
class DiskFile {
 public:
  void write(std::size_t offset, std::string bytes) {
    changes_.push_back(Write{offset, std::move(bytes)});
  }
  void truncate(std::size_t size) { changes_.push_back(Truncate{size}); }
  /// From now on a loss of power changes nothing of this content.
  void sync();

  /// A content that the file may have after the loss. Each sector is as it was synced or as some
  /// later write left it.
  std::string after_loss(const Tear& tear, Random& random) const;

 private:
  struct Write {
    std::size_t offset;
    std::string bytes;
  };
  struct Truncate {
    std::size_t size;
  };

  std::string synced_;
  std::vector<std::variant<Write, Truncate>> changes_;
};

}  // namespace perdure::sqlite::power
