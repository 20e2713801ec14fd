#pragma once

#include <memory>
#include <string>

#include "provider/sqlite/connection.h"
#include "provider/sqlite/options.h"

namespace perdure::sqlite {

/// A connection with the settings of the writer (docs/sqlite.md); the file is made when it is
/// missing, the schema and the log mode are the caller's to see to. The log is not copied by it.
/// Throws SqliteError.
std::unique_ptr<Connection> open_for_writing(const std::string& path, Durability durability);

}  // namespace perdure::sqlite
