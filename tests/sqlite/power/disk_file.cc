#include "tests/sqlite/power/disk_file.h"

#include <algorithm>

namespace perdure::sqlite::power {

namespace {

void fill_up(std::string& content, std::size_t size, bool garbage, Random& random) {
  while (content.size() < size) {
    content.push_back(garbage ? static_cast<char>(random.next()) : '\0');
  }
}

/// `[offset, offset + count)` of a write, up to the end of its sector.
void copy_part(std::string& content,
               std::size_t at,
               const std::string& bytes,
               std::size_t from,
               std::size_t count) {
  content.replace(at + from, count, bytes, from, count);
}

}  // namespace

void DiskFile::sync() {
  class None final : public Random {
   public:
    std::uint64_t next() override { return 0; }
  } none;
  synced_ = after_loss({.kept = 4}, none);
  changes_.clear();
}

std::string DiskFile::after_loss(const Tear& tear, Random& random) const {
  const auto survives = [&] { return random.next() % 4 < tear.kept; };
  std::string content = synced_;
  for (const auto& change : changes_) {
    if (const auto* truncated = std::get_if<Truncate>(&change)) {
      if (!survives()) continue;
      if (content.size() > truncated->size) content.resize(truncated->size);
      fill_up(content, truncated->size, tear.garbage, random);
      continue;
    }
    const auto& [offset, bytes] = std::get<Write>(change);
    for (std::size_t from = 0; from < bytes.size();) {
      const std::size_t left_in_sector = tear.sector - (offset + from) % tear.sector;
      const std::size_t count = std::min(left_in_sector, bytes.size() - from);
      if (survives()) {
        fill_up(content, offset + from + count, tear.garbage, random);
        copy_part(content, offset, bytes, from, count);
      }
      from += count;
    }
  }
  return content;
}

}  // namespace perdure::sqlite::power
