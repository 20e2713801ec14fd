#pragma once

#include "base/result.h"
#include "provider/provider.h"
#include "provider/sqlite/options.h"

namespace perdure::sqlite {

/// What the open store really does, asked of SQLite and not of the options it was opened with.
/// InvalidArgument when `store` is no SQLite store.
Result<Durability> read_durability(Provider& store);

}  // namespace perdure::sqlite
