#pragma once

#include <string>

namespace perdure::sqlite::crash {

/// Writes a group to a new store while no file of this process may grow, looks at what the answers
/// promise, and writes it again when files may grow again. Throws when a promise is broken.
void write_with_a_file_size_limit(const std::string& path);

}  // namespace perdure::sqlite::crash
