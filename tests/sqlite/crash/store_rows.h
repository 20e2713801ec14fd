#pragma once

#include <string>
#include <vector>

#include "provider/sqlite/connection.h"

/// What lies in a store file, seen from beside the provider.
namespace perdure::sqlite::crash {

/// Every row of every table, one on a line, with the counters of keys: equal texts are equal
/// stores. Empty for a file without tables.
std::string all_rows(const std::string& path);

/// "ok", or what SQLite found wrong with the file.
std::string integrity(const std::string& path);

/// Broken promises of histories, in any state of a store. Each names the rule and the row.
std::vector<std::string> violations_at_any_time(const std::string& path);

/// Those, and the broken promises of a store in which everything has ended: what is left over, lost
/// or there twice.
std::vector<std::string> violations_at_the_end(const std::string& path);

}  // namespace perdure::sqlite::crash
