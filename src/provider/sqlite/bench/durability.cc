#include "provider/sqlite/bench/durability.h"

#include "provider/sqlite/sqlite_provider.h"

namespace perdure::sqlite {

Result<Durability> read_durability(Provider& store) {
  auto* const provider = dynamic_cast<SqliteProvider*>(&store);
  if (provider == nullptr) return invalid_argument("this is no SQLite store");
  return provider->durability();
}

}  // namespace perdure::sqlite
