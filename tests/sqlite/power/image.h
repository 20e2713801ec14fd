#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/sqlite/power/forgetful_disk.h"
#include "tests/support/temp_dir.h"

namespace perdure::sqlite::power {

/// What a loss of power has left of `store.db`, in a folder of its own on a disk that works.
struct Image {
  std::unique_ptr<support::TempDir> folder = std::make_unique<support::TempDir>();
  std::size_t acknowledged = 0;  ///< writes answered when the power was lost
  bool just_synced = false;      ///< nothing but what was synced

  std::string path() const { return folder->file("store.db"); }
};

/// Just what was synced.
Image image_of(const ForgetfulDisk& disk, std::size_t acknowledged);
/// With parts of the rest.
Image torn_image_of(const ForgetfulDisk& disk, std::size_t acknowledged, Random& random);

/// Recovers the store. Its rows, as crash::all_rows shows them; a failure of the test when the file
/// is damaged.
std::string recovered_rows(const Image& image);

}  // namespace perdure::sqlite::power
