#pragma once

#include <span>

#include "provider/sqlite/migrations.h"

namespace perdure::sqlite {

/// All migrations of this version, oldest first. A migration that was released is never edited; a
/// change of the schema is a new one.
std::span<const Migration> schema_migrations();

}  // namespace perdure::sqlite
