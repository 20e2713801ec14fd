#pragma once

#include <cstdint>

#include "base/result.h"
#include "provider/provider.h"

namespace perdure::sqlite {

/// Bounds the page cache of the store's writer, by far the largest; those of the readers have the
/// size that SQLite gives them. InvalidArgument when `store` is no SQLite store.
Status limit_page_cache(Provider& store, std::int64_t bytes);

/// Gives up what the writer's page cache holds and is not in use.
Status empty_page_cache(Provider& store);

/// What SQLite has allocated in this process, page caches for the most part.
std::int64_t sqlite_bytes();

}  // namespace perdure::sqlite
