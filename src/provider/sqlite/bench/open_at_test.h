#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "provider/sqlite/options.h"

namespace perdure::sqlite {

/// Opens a store for a test; that it cannot be opened fails the test.
inline std::unique_ptr<Provider> open_at(const std::string& path,
                                         Durability durability = Durability::kFull) {
  auto store = open({.path = path, .durability = durability});
  EXPECT_TRUE(store.ok()) << store;
  return std::move(store).value();
}

}  // namespace perdure::sqlite
