#include "tests/sqlite/power/image.h"

#include <gtest/gtest.h>

#include "tests/sqlite/crash/store_rows.h"
#include "tests/sqlite/crash/world.h"

namespace perdure::sqlite::power {

Image image_of(const ForgetfulDisk& disk, std::size_t acknowledged) {
  Image image;
  image.acknowledged = acknowledged;
  image.just_synced = true;
  disk.survivors(image.folder->path().string());
  return image;
}

Image torn_image_of(const ForgetfulDisk& disk, std::size_t acknowledged, Random& random) {
  Image image;
  image.acknowledged = acknowledged;
  disk.survivors(image.folder->path().string(), random);
  return image;
}

std::string recovered_rows(const Image& image) {
  EXPECT_EQ(crash::integrity(image.path()), "ok");
  const std::string rows = crash::all_rows(image.path());
  // It is a store that the provider takes.
  VirtualClock clock;
  crash::open_store(image.path(), clock, Durability::kFull);
  return rows;
}

}  // namespace perdure::sqlite::power
